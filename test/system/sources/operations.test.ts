/**
 * The operations of single sources, one file of own/ each, on one service. test/long/operations.test.ts has the others.
 */
import { useCatalogue } from '../../support/sourceFixtures/catalogue.js';
import { confluenceAddressRows } from './own/confluence.js';
import { fillFreshdesk } from './own/freshdesk.js';
import { skippedRows, SOME_TYPE_OPTIONS, typeRows } from './own/helpdesk.js';
import { fillIntercom } from './own/intercom.js';
import { publicClientRows } from './own/publicClient.js';
import { salesforceAddressRows } from './own/salesforce.js';
import { serviceNowClientRows, serviceNowTypeRows } from './own/serviceNow.js';
import { fillZendesk, zendeskAddressRows } from './own/zendesk.js';
import { chooserRows } from './own/chooser.js';
import { gitbookRows } from './own/gitbook.js';
import { unreadableRows } from './own/unreadable.js';
import { gmailRows } from './own/gmail.js';
import { sharePointRows } from './own/sharePoint.js';
import { slackRows } from './own/slack.js';

const catalogue = useCatalogue();

gitbookRows(catalogue);
gmailRows(catalogue);
sharePointRows(catalogue);
slackRows(catalogue);
unreadableRows(catalogue);
chooserRows(catalogue, 'BOX');

publicClientRows(catalogue);

// Selection of the account's address.
serviceNowClientRows(catalogue);
zendeskAddressRows(catalogue);
confluenceAddressRows(catalogue);
salesforceAddressRows(catalogue);

// Some combinations of type options; test/long/operations.test.ts has all.
serviceNowTypeRows(catalogue, SOME_TYPE_OPTIONS);
typeRows(catalogue, 'ZENDESK', () => fillZendesk(catalogue), SOME_TYPE_OPTIONS);
typeRows(catalogue, 'INTERCOM', () => fillIntercom(catalogue), SOME_TYPE_OPTIONS);
typeRows(catalogue, 'FRESHDESK', () => fillFreshdesk(catalogue), SOME_TYPE_OPTIONS);
skippedRows(catalogue, 'FRESHDESK', () => fillFreshdesk(catalogue));
