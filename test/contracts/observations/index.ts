import { azureBlobStorage } from './azureBlobStorage.js';
import { box } from './box.js';
import { confluence } from './confluence.js';
import { document360 } from './document360.js';
import { dropbox } from './dropbox.js';
import type { SourceObservations } from './observation.js';
import { freshdesk } from './freshdesk.js';
import { github } from './github.js';
import { gmail } from './gmail.js';
import { gong } from './gong.js';
import { googleCloudStorage } from './googleCloudStorage.js';
import { googleDrive } from './googleDrive.js';
import { guru } from './guru.js';
import { notion } from './notion.js';
import { oneDrive } from './oneDrive.js';
import { outlook } from './outlook.js';
import { s3 } from './s3.js';
import { salesforce } from './salesforce.js';
import { serviceNow } from './serviceNow.js';
import { sharePoint } from './sharePoint.js';
import { slack } from './slack.js';
import { zendesk } from './zendesk.js';
import { zotero } from './zotero.js';

/** Observations by users and other projects, grouped by source. */
export const OBSERVATIONS: readonly SourceObservations[] = [
  ...[azureBlobStorage, box, confluence, document360, dropbox, freshdesk, github, gmail, gong, googleCloudStorage],
  ...[googleDrive, guru, notion, oneDrive, outlook, s3, salesforce, serviceNow, sharePoint, slack, zendesk, zotero],
];
