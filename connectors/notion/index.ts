/**
 * Notion: the pages and databases that a user shares with the connection; pages and rows become text.
 * https://developers.notion.com
 */
import type { BotUserObjectResponse, UserObjectResponse } from '@notionhq/client';

import { Fault } from '../../contract/failures.js';
import type { Connector, ItemContent } from '../connector.js';
import type { OAuthGrant } from '../oauthSpec.js';
import type { GrantClient } from '../accountClient.js';
import { isDatabaseRow, timestampOf, parseItemId, itemRefOf, type NotionObject, titleOf } from './adapter.js';
import { classify, headersOf, isTrashed, missing, notionOAuth } from './api.js';
import { readBlocks } from './blocks.js';
import { columnsOf, columnText } from './properties.js';
import { renderBlocks } from './render.js';
import type { Form } from './richText.js';
import { findExisting } from './existing.js';
import { listChildren, searchAll } from './tree.js';
import { asAnswer, asObject, asText } from '../json.js';

type BotInfo = Extract<BotUserObjectResponse['bot'], { workspace_id: string }>;

/** Returns a page's content: title, properties and blocks. */
async function contentOf(client: GrantClient, page: NotionObject, id: string): Promise<ItemContent> {
  const columns = await columnsOf(client, page);
  const blocks = await readBlocks(client, id);
  const title = titleOf(page);
  const textIn = (form: Form): { text: string; unread: number } => {
    const lines = columns.flatMap(([name, column]) => {
      const value = column['type'] === 'title' ? '' : columnText(column, form);
      return value === '' ? [] : [form === 'markdown' ? `- **${name}**: ${value}` : `${name}: ${value}`];
    });
    const { text, unread } = renderBlocks(blocks, form);
    const head = form === 'markdown' ? `# ${title}` : title;
    return { text: [head, lines.join('\n'), text].filter((part) => part.trim() !== '').join('\n\n'), unread };
  };
  const { text, unread } = textIn('markdown');
  const edited = timestampOf(page['last_edited_time']);
  return {
    bytes: Buffer.from(text),
    contentType: 'text/markdown; charset=utf-8',
    plain: {
      bytes: Buffer.from(textIn('plain').text),
      contentType: 'text/plain; charset=utf-8',
      mimeType: 'text/plain',
    },
    format: 'NOTION',
    mimeType: 'text/markdown',
    name: title,
    url: asText(page['url']) ?? id,
    fileMetadata: {
      type: 'PAGE',
      ...(edited === null ? {} : { updated_at: edited }),
      ...(unread === 0 ? {} : { unread_blocks: unread }),
    },
  };
}

export const notion: Connector<OAuthGrant> = {
  cache: { maxEntries: 100_000 },
  about: {
    listed: 'pages that the user shares, with nested pages, databases and rows',
    ingested:
      'each page, and each row as a file of NOTION_DATABASE, with its columns and blocks as text or Markdown; no embedded files, comments or relations',
    unchangedBy: 'time of change, if it is at least two minutes ago',
    deletions: 'items that are no longer shared, or are in the trash, count as deleted',
    limits:
      'search is not guaranteed to return everything: known items that it omits are requested one by one, up to 2,000 per listing, before anything is deleted; new ones are found when it returns them; 20,000 blocks per page; three requests per second and connection',
  },
  oauth: notionOAuth,
  sourceOf: (externalId) => (isDatabaseRow(externalId) ? 'NOTION_DATABASE' : 'NOTION'),
  headers: headersOf,
  classify,

  async identify(client) {
    const { facts } = client.credentials;
    const user = asAnswer<UserObjectResponse>(await client.get(['users', 'me'], {}));
    const bot = asAnswer<BotInfo>(user.bot);
    const workspaceName = facts['workspace'];
    // The answer to a personal token contains the person but no workspace: use the workspace that the caller named.
    const personalName = asText(user['type']) === 'person' ? (workspaceName ?? null) : null;
    const [id, workspace] = [asText(user['id']), asText(bot['workspace_id']) ?? personalName];
    if (id === null || workspace === null)
      throw new Fault(
        'server_error',
        'Notion returned no workspace. Set workspace_id if the token is a personal one; otherwise try again.',
      );
    if (
      workspaceName !== undefined &&
      workspaceName.replaceAll('-', '').toLowerCase() !== workspace.replaceAll('-', '').toLowerCase()
    )
      throw new Fault('bad_response', 'The token belongs to another Notion workspace than workspace_id.');
    const owner = personalName === null ? asObject(asObject(bot['owner'])['user']) : user;
    const userFacts = {
      workspace_name: asText(bot['workspace_name']),
      user_name: asText(owner['name']),
      user_email: asText(asObject(owner['person'])['email']),
    };
    return {
      // Each user of a workspace shares different pages.
      account: `${workspace}:${id}`,
      metadata: {
        workspace_id: workspace,
        bot_id: id,
        ...Object.fromEntries(Object.entries(userFacts).filter(([, value]) => value !== null)),
      },
    };
  },

  listRoots: searchAll,
  findExisting,

  async listDescendants(client, externalId, cursor) {
    const itemRef = parseItemId(externalId);
    if (itemRef === null) throw missing();
    return listChildren(client, itemRef, cursor);
  },

  async open(client, externalId) {
    const itemRef = parseItemId(externalId);
    if (itemRef === null) throw missing();
    if (itemRef.kind === 'database') {
      await client.get(['data_sources', itemRef.id], {});
      throw new Fault('unsupported_type', 'A Notion database has no text of its own: sync its rows.');
    }
    const page = await client.get(['pages', itemRef.id], {});
    if (isTrashed(page) || itemRefOf(page) === null) throw missing();
    return contentOf(client, page, itemRef.id);
  },
};
