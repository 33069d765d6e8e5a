import { GRAPH } from '../answers/graph.js';
import type { Contract } from '../contract.js';
import { ME, OWN_DRIVES, DRIVES } from './graph.js';

export const oneDrive: Contract = {
  ...GRAPH,
  name: 'oneDrive',
  source: 'OneDrive',
  address: 'api',
  operations: { ...ME, ...OWN_DRIVES, ...DRIVES },
};
