import type { Contract } from '../contract.js';
import { box } from './box.js';
import { confluence } from './confluence.js';
import { document360 } from './document360.js';
import { dropbox } from './dropbox.js';
import { gitbook } from './gitbook.js';
import { github } from './github.js';
import { gmail } from './gmail.js';
import { gong } from './gong.js';
import { googleCloudStorage } from './googleCloudStorage.js';
import { googleDrive } from './googleDrive.js';
import { googleProjects } from './googleProjects.js';
import { guru } from './guru.js';
import { intercom } from './intercom.js';
import { notion } from './notion.js';
import { oneDrive } from './oneDrive.js';
import { outlook } from './outlook.js';
import { salesforce, salesforceIdentity } from './salesforce.js';
import { sharePoint } from './sharePoint.js';
import { slack } from './slack.js';
import { zendesk } from './zendesk.js';

/** The facts of all specifications that requests are compared with. */
export const CONTRACTS: readonly Contract[] = [
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
  notion,
  oneDrive,
  outlook,
  salesforce,
  salesforceIdentity,
  sharePoint,
  slack,
  zendesk,
];
