import { box } from './box.js';
import { confluence } from './confluence.js';
import { document360 } from './document360.js';
import { dropbox } from './dropbox.js';
import type { Reality } from './fact.js';
import { github } from './github.js';
import { gmail } from './gmail.js';
import { gong } from './gong.js';
import { googleCloudStorage } from './googleCloudStorage.js';
import { googleDrive } from './googleDrive.js';
import { guru } from './guru.js';
import { notion } from './notion.js';
import { oneDrive } from './oneDrive.js';
import { outlook } from './outlook.js';
import { salesforce } from './salesforce.js';
import { sharePoint } from './sharePoint.js';
import { slack } from './slack.js';
import { zendesk } from './zendesk.js';

/** What users and other projects observed, by source. */
export const OBSERVATIONS: readonly Reality[] = [
  ...[box, confluence, document360, dropbox, github, gmail, gong, googleCloudStorage, googleDrive, guru, notion],
  ...[oneDrive, outlook, salesforce, sharePoint, slack, zendesk],
];
