/** What single sources have operations of their own for: each in a file of own/, on one service. More of them in test/long/operations.test.ts. */
import { useCatalogue } from '../../support/sourceStands/catalogue.js';
import { azureRows } from './own/azureBlobStorage.js';
import { confluenceAddressRows } from './own/confluence.js';
import { fillFreshdesk } from './own/freshdesk.js';
import { leftOutRows, SOME_WISHES, typeRows } from './own/helpdesk.js';
import { fillIntercom } from './own/intercom.js';
import { publicClientRows } from './own/publicClient.js';
import { salesforceAddressRows } from './own/salesforce.js';
import { serviceNowClientRows, serviceNowTypeRows } from './own/serviceNow.js';
import { fillZendesk, zendeskAddressRows } from './own/zendesk.js';
import { chooserRows } from './own/chooser.js';
import { gitbookRows } from './own/gitbook.js';
import { githubRows } from './own/github.js';
import { githubReadRows } from './own/githubReads.js';
import { unreadableRows } from './own/unreadable.js';
import { gmailRows } from './own/gmail.js';
import { s3Rows } from './own/s3.js';
import { sharePointRows } from './own/sharePoint.js';
import { slackRows } from './own/slack.js';

const catalogue = useCatalogue();

gitbookRows(catalogue);
githubRows(catalogue);
githubReadRows(catalogue);
gmailRows(catalogue);
s3Rows(catalogue);
sharePointRows(catalogue);
azureRows(catalogue);
slackRows(catalogue);
unreadableRows(catalogue);
chooserRows(catalogue, 'BOX');

publicClientRows(catalogue);

// Whose account is meant.
serviceNowClientRows(catalogue);
zendeskAddressRows(catalogue);
confluenceAddressRows(catalogue);
salesforceAddressRows(catalogue);

// All that may be said of types: test/long/operations.test.ts.
serviceNowTypeRows(catalogue, SOME_WISHES);
typeRows(catalogue, 'ZENDESK', () => fillZendesk(catalogue), SOME_WISHES);
typeRows(catalogue, 'INTERCOM', () => fillIntercom(catalogue), SOME_WISHES);
typeRows(catalogue, 'FRESHDESK', () => fillFreshdesk(catalogue), SOME_WISHES);
leftOutRows(catalogue, 'FRESHDESK', () => fillFreshdesk(catalogue));
