/**
 * The operations of single sources, one file of own/ each, on one service. test/long/operations.test.ts has the others.
 */
import { useCatalogue } from '../../support/sourceFixtures/catalogue.js';
import { defineConfluenceAddressTests } from './own/confluence.js';
import { fillFreshdesk } from './own/freshdesk.js';
import { defineSkippedTests, SOME_TYPE_OPTIONS, defineTypeTests } from './own/helpdesk.js';
import { fillIntercom } from './own/intercom.js';
import { definePublicClientTests } from './own/publicClient.js';
import { defineSalesforceAddressTests } from './own/salesforce.js';
import { defineServiceNowClientTests, defineServiceNowTypeTests } from './own/serviceNow.js';
import { fillZendesk, defineZendeskAddressTests } from './own/zendesk.js';
import { defineChooserTests } from './own/chooser.js';
import { defineGitbookTests } from './own/gitbook.js';
import { defineUnreadableTests } from './own/unreadable.js';
import { defineGmailTests } from './own/gmail.js';
import { defineSharePointTests } from './own/sharePoint.js';
import { defineSlackTests } from './own/slack.js';

const catalogue = useCatalogue();

defineGitbookTests(catalogue);
defineGmailTests(catalogue);
defineSharePointTests(catalogue);
defineSlackTests(catalogue);
defineUnreadableTests(catalogue);
defineChooserTests(catalogue, 'BOX');

definePublicClientTests(catalogue);

// Selection of the account's address.
defineServiceNowClientTests(catalogue);
defineZendeskAddressTests(catalogue);
defineConfluenceAddressTests(catalogue);
defineSalesforceAddressTests(catalogue);

// Some combinations of type options; test/long/operations.test.ts has all.
defineServiceNowTypeTests(catalogue, SOME_TYPE_OPTIONS);
defineTypeTests(catalogue, 'ZENDESK', () => fillZendesk(catalogue), SOME_TYPE_OPTIONS);
defineTypeTests(catalogue, 'INTERCOM', () => fillIntercom(catalogue), SOME_TYPE_OPTIONS);
defineTypeTests(catalogue, 'FRESHDESK', () => fillFreshdesk(catalogue), SOME_TYPE_OPTIONS);
defineSkippedTests(catalogue, 'FRESHDESK', () => fillFreshdesk(catalogue));
