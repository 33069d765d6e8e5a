/** What single sources have operations of their own for: each in a file of own/, on one service. More of them in test/long/operations.test.ts. */
import { useCatalogue } from './catalogue.js';
import { azureRows } from './own/azureBlobStorage.js';
import { boxRows } from './own/box.js';
import { chooserRows } from './own/chooser.js';
import { gitbookRows } from './own/gitbook.js';
import { githubRows } from './own/github.js';
import { outlookRows } from './own/outlook.js';
import { gmailRows } from './own/gmail.js';
import { s3Rows } from './own/s3.js';
import { sharePointRows } from './own/sharePoint.js';
import { slackRows } from './own/slack.js';

const catalogue = useCatalogue();

gitbookRows(catalogue);
githubRows(catalogue);
gmailRows(catalogue);
s3Rows(catalogue);
outlookRows(catalogue);
sharePointRows(catalogue);
azureRows(catalogue);
slackRows(catalogue);
boxRows(catalogue);
chooserRows(catalogue, 'BOX');
