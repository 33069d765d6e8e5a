/** What the sources that npm test has no room for have operations of their own for: a minute or two. */
import { useCatalogue } from '../acceptance/sources/catalogue.js';
import { chooserRows } from '../acceptance/sources/own/chooser.js';
import { freshdeskRows } from '../acceptance/sources/own/freshdesk.js';
import { dropboxRows } from '../acceptance/sources/own/dropbox.js';
import { confluenceRows } from '../acceptance/sources/own/confluence.js';
import { document360Rows } from '../acceptance/sources/own/document360.js';
import { intercomRows } from '../acceptance/sources/own/intercom.js';
import { gongRows } from '../acceptance/sources/own/gong.js';
import { guruRows } from '../acceptance/sources/own/guru.js';
import { moreUnreadableRows } from '../acceptance/sources/own/unreadable.js';
import { notionRows } from '../acceptance/sources/own/notion.js';
import { salesforceRows } from '../acceptance/sources/own/salesforce.js';
import { serviceNowRows, serviceNowTypeRows } from '../acceptance/sources/own/serviceNow.js';
import { serviceNowChangeRows } from '../acceptance/sources/own/serviceNowChanges.js';
import { zoteroRows } from '../acceptance/sources/own/zotero.js';
import { zendeskRows } from '../acceptance/sources/own/zendesk.js';

const catalogue = useCatalogue();

confluenceRows(catalogue);
document360Rows(catalogue);
guruRows(catalogue);
notionRows(catalogue);
zendeskRows(catalogue);
intercomRows(catalogue);
freshdeskRows(catalogue);
dropboxRows(catalogue);
chooserRows(catalogue, 'DROPBOX');
gongRows(catalogue);
serviceNowRows(catalogue);
serviceNowTypeRows(catalogue);
serviceNowChangeRows(catalogue);
salesforceRows(catalogue);
zoteroRows(catalogue);
moreUnreadableRows(catalogue);
