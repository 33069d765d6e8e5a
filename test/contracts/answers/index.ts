import { notion } from './notion.js';
import { oneDrive, outlook, sharePoint } from './microsoft.js';
import { salesforce, salesforceIdentity } from './salesforce.js';
import type { AnswerTable } from './table.js';
import { zendesk } from './zendesk.js';

/** The response schemas that answers of emulators are compared with. */
export const ANSWERS: readonly AnswerTable[] = [
  notion,
  oneDrive,
  outlook,
  salesforce,
  salesforceIdentity,
  sharePoint,
  zendesk,
];
