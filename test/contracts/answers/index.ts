import { box } from './box.js';
import { confluence } from './confluence.js';
import { document360 } from './document360.js';
import { dropbox } from './dropbox.js';
import { gitbook } from './gitbook.js';
import { intercom } from './intercom.js';
import { github } from './github.js';
import { gmail } from './google/gmail.js';
import { googleCloudStorage, googleProjects } from './google/storage.js';
import { googleDrive } from './google/drive.js';
import { gong } from './gong.js';
import { guru } from './guru.js';
import { oneDrive, outlook, sharePoint } from './microsoft.js';
import { notion } from './notion.js';
import { salesforce, salesforceIdentity } from './salesforce.js';
import { slack } from './slack.js';
import type { AnswerTable } from './table.js';
import { zendesk } from './zendesk.js';

/** The response schemas that answers of emulators are compared with. */
export const ANSWERS: readonly AnswerTable[] = [
  ...[
    box,
    confluence,
    document360,
    dropbox,
    gitbook,
    github,
    gmail,
    gong,
    googleCloudStorage,
    googleDrive,
    googleProjects,
    guru,
    intercom,
  ],
  ...[notion, oneDrive, outlook, salesforce, salesforceIdentity, sharePoint, slack, zendesk],
];
