import { oneDrive, outlook, sharePoint } from './microsoft.js';
import { salesforce, salesforceIdentity } from './salesforce.js';
import type { AnswerTable } from './table.js';
import { zendesk } from './zendesk.js';

/** The response schemas that answers of emulators are compared with. */
export const ANSWERS: readonly AnswerTable[] = [oneDrive, outlook, salesforce, salesforceIdentity, sharePoint, zendesk];
