import { GRAPH } from '../answers/graph.js';
import type { Contract } from '../contract.js';
import { ME, MAIL } from './graph.js';

export const outlook: Contract = {
  ...GRAPH,
  name: 'outlook',
  source: 'Outlook',
  address: 'api',
  operations: { ...ME, ...MAIL },
};
