import type { DriveItem, Message, SitePage } from '@microsoft/microsoft-graph-types';
import type { BlockObjectResponse, QueryDataSourceResponse, RichTextItemResponse } from '@notionhq/client';
import type { components } from '@octokit/openapi-types';
import { expect, test } from '@jest/globals';

import type { BoxEvent, BoxItem } from '../../connectors/box/fields.js';
import type { Content, Space } from '../../connectors/confluence/fields.js';
import type { DropboxEntry } from '../../connectors/dropbox/fields.js';
import { asAnswer } from '../../connectors/json.js';
import type { NotionObject } from '../../connectors/notion/adapter.js';

// The compiler rejects an expected error that does not occur: a type that accepts every name fails `npm run
// check:types`.
test('a misspelt field of an answer does not compile, and is absent', () => {
  const thing = asAnswer({}) as NotionObject;
  expect([
    // @ts-expect-error: in_trash
    thing.in_trashed,
    // @ts-expect-error: has_children
    asAnswer<BlockObjectResponse>({}).has_child,
    // @ts-expect-error: next_cursor
    asAnswer<QueryDataSourceResponse>({}).cursor,
    // @ts-expect-error: plain_text
    asAnswer<RichTextItemResponse>({}).plainText,
    // @ts-expect-error: eTag
    asAnswer<DriveItem>({}).etag,
    // @ts-expect-error: bodyPreview
    asAnswer<Message>({}).preview,
    // @ts-expect-error: canvasLayout
    asAnswer<SitePage>({}).layout,
    // @ts-expect-error: updated_at
    asAnswer<components['schemas']['issue']>({}).updatedAt,
    // @ts-expect-error: item_status
    asAnswer<BoxItem>({}).status,
    // @ts-expect-error: source
    asAnswer<BoxEvent>({}).item,
    // @ts-expect-error: path_lower
    asAnswer<DropboxEntry>({}).path,
    // @ts-expect-error: parentId
    asAnswer<Content>({}).parent,
    // @ts-expect-error: createdAt
    asAnswer<Space>({}).created,
  ]).toEqual(Array.from({ length: 13 }, () => undefined));
  expect(asAnswer<BoxItem>({ name: 'a' }).name).toBe('a');
});
