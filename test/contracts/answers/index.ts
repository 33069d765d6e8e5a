import { azureBlobStorage } from './azureBlobStorage.js';
import { box } from './box.js';
import { confluence } from './confluence.js';
import { document360 } from './document360.js';
import { dropbox } from './dropbox.js';
import { freshdesk } from './freshdesk.js';
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
import { s3 } from './s3.js';
import { salesforce, salesforceIdentity } from './salesforce.js';
import { serviceNow } from './serviceNow.js';
import { slack } from './slack.js';
import type { AnswerTable } from './table.js';
import { zendesk } from './zendesk.js';
import { zotero } from './zotero.js';

/** The response schemas that answers of emulators are compared with. */
export const ANSWERS: readonly AnswerTable[] = [
  ...[azureBlobStorage, box, confluence, document360, dropbox, freshdesk, gitbook, github, gmail, gong],
  ...[googleCloudStorage, googleDrive, googleProjects, guru, intercom, notion, oneDrive, outlook, s3, salesforce],
  ...[salesforceIdentity, serviceNow, sharePoint, slack, zendesk, zotero],
];
