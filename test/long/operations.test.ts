/**
 * Tests of behaviour that only some sources have. test/system/sources/operations.test.ts runs other tests of this kind.
 * The tests here would make it too slow. They take one or two minutes.
 */
import { useCatalogue } from '../support/sourceFixtures/catalogue.js';
import { defineChooserTests } from '../system/sources/own/chooser.js';
import { defineFreshdeskTests } from '../system/sources/own/freshdesk.js';
import { defineDropboxTests } from '../system/sources/own/dropbox.js';
import { defineAzureTests } from '../system/sources/own/azureBlobStorage.js';
import { defineGithubTests } from '../system/sources/own/github.js';
import { defineGithubReadTests } from '../system/sources/own/githubReads.js';
import { defineS3Tests } from '../system/sources/own/s3.js';
import { defineConfluenceTests } from '../system/sources/own/confluence.js';
import { defineDocument360Tests } from '../system/sources/own/document360.js';
import { defineIntercomTests } from '../system/sources/own/intercom.js';
import { defineBoxTests } from '../system/sources/own/box.js';
import { defineGongAccountTests, defineGongTests } from '../system/sources/own/gong.js';
import { defineOutlookTests } from '../system/sources/own/outlook.js';
import { definePublicClientTests } from '../system/sources/own/publicClient.js';
import { defineGuruTests } from '../system/sources/own/guru.js';
import { defineMoreUnreadableTests } from '../system/sources/own/unreadable.js';
import { defineNotionTests } from '../system/sources/own/notion.js';
import { defineSalesforceTests } from '../system/sources/own/salesforce.js';
import { defineServiceNowTests, defineServiceNowTypeTests } from '../system/sources/own/serviceNow.js';
import { defineServiceNowChangeTests } from '../system/sources/own/serviceNowChanges.js';
import { defineZoteroTests } from '../system/sources/own/zotero.js';
import { defineZendeskTests } from '../system/sources/own/zendesk.js';

const catalogue = useCatalogue();

defineGithubTests(catalogue);
defineGithubReadTests(catalogue);
defineS3Tests(catalogue);
defineAzureTests(catalogue);
defineConfluenceTests(catalogue);
defineDocument360Tests(catalogue);
defineGuruTests(catalogue);
defineNotionTests(catalogue);
defineZendeskTests(catalogue);
defineIntercomTests(catalogue);
defineFreshdeskTests(catalogue);
defineDropboxTests(catalogue);
defineChooserTests(catalogue, 'DROPBOX');
defineGongAccountTests(catalogue);
defineGongTests(catalogue);
defineOutlookTests(catalogue);
defineBoxTests(catalogue);
defineServiceNowTests(catalogue);
defineServiceNowTypeTests(catalogue);
defineServiceNowChangeTests(catalogue);
defineSalesforceTests(catalogue);
defineZoteroTests(catalogue);
defineMoreUnreadableTests(catalogue);
definePublicClientTests(catalogue);
