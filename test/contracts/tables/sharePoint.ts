import { GRAPH } from '../answers/graph.js';
import type { Contract } from '../contract.js';
import { ME, SITES, DRIVES } from './graph.js';

export const sharePoint: Contract = {
  ...GRAPH,
  name: 'sharePoint',
  source: 'SharePoint',
  address: 'api',
  operations: { ...ME, ...SITES, ...DRIVES },
};
