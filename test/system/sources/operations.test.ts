/**
 * Tests of behaviour that only some sources have, on one service. The files of own/ define them.
 * test/long/operations.test.ts runs more of them.
 */
import { useCatalogue } from '../../support/sourceFixtures/catalogue.js';
import { defineConfluenceAddressTests } from './own/confluence.js';
import { fillFreshdesk } from './own/freshdesk.js';
import { defineSkippedTests, defineTypeTests, ONE_TYPE_OPTION, SOME_TYPE_OPTIONS } from './own/helpdesk.js';
import { fillIntercom } from './own/intercom.js';
import { definePublicClientTests, SOME_KINDS } from './own/publicClient.js';
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

definePublicClientTests(catalogue, SOME_KINDS);

// A user connects an account by its address, such as example.zendesk.com.
defineServiceNowClientTests(catalogue);
defineZendeskAddressTests(catalogue);
defineConfluenceAddressTests(catalogue);
defineSalesforceAddressTests(catalogue);

// Options that select the types of items to sync, such as tickets or articles. The same code applies them for all
// sources, so each source has some combinations here. test/long/operations.test.ts tests all combinations.
defineServiceNowTypeTests(catalogue, ONE_TYPE_OPTION);
defineTypeTests(catalogue, 'ZENDESK', () => fillZendesk(catalogue), SOME_TYPE_OPTIONS);
defineTypeTests(catalogue, 'INTERCOM', () => fillIntercom(catalogue), ONE_TYPE_OPTION);
defineTypeTests(catalogue, 'FRESHDESK', () => fillFreshdesk(catalogue), ONE_TYPE_OPTION);
defineSkippedTests(catalogue, 'FRESHDESK', () => fillFreshdesk(catalogue));
