import type { Contract } from '../contract.js';
import { azureBlobStorage } from './azureBlobStorage.js';
import { box } from './box.js';
import { confluence } from './confluence.js';
import { document360 } from './document360.js';
import { dropbox } from './dropbox.js';
import { freshdesk } from './freshdesk.js';
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
import { s3 } from './s3.js';
import { salesforce, salesforceIdentity } from './salesforce.js';
import { serviceNow } from './serviceNow.js';
import { sharePoint } from './sharePoint.js';
import { slack } from './slack.js';
import { zendesk } from './zendesk.js';
import { zotero } from './zotero.js';

/** The rules of all specifications. Tests compare the requests that connectors send with them. */
export const CONTRACTS: readonly Contract[] = [
  azureBlobStorage,
  box,
  confluence,
  document360,
  dropbox,
  freshdesk,
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
  s3,
  salesforce,
  salesforceIdentity,
  serviceNow,
  sharePoint,
  slack,
  zendesk,
  zotero,
];
