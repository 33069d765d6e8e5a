/** What single sources have operations of their own for: each in a file of own/, on one service. */
import { useCatalogue } from './catalogue.js';
import { azureRows } from './own/azureBlobStorage.js';
import { boxRows } from './own/box.js';
import { chooserRows } from './own/chooser.js';
import { freshdeskRows } from './own/freshdesk.js';
import { dropboxRows } from './own/dropbox.js';
import { gitbookRows } from './own/gitbook.js';
import { githubRows } from './own/github.js';
import { intercomRows } from './own/intercom.js';
import { gongRows } from './own/gong.js';
import { outlookRows } from './own/outlook.js';
import { gmailRows } from './own/gmail.js';
import { s3Rows } from './own/s3.js';
import { sharePointRows } from './own/sharePoint.js';
import { slackRows } from './own/slack.js';
import { zendeskRows } from './own/zendesk.js';

const catalogue = useCatalogue();

gitbookRows(catalogue);
githubRows(catalogue);
gmailRows(catalogue);
s3Rows(catalogue);
outlookRows(catalogue);
sharePointRows(catalogue);
azureRows(catalogue);
slackRows(catalogue);
zendeskRows(catalogue);
boxRows(catalogue);
chooserRows(catalogue, 'BOX');
intercomRows(catalogue);
freshdeskRows(catalogue);
dropboxRows(catalogue);
chooserRows(catalogue, 'DROPBOX');
gongRows(catalogue);
