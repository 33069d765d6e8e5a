/** Reads the blocks of a page with their nested blocks. https://developers.notion.com/reference/block */
import type { BlockObjectResponse } from '@notionhq/client';

import type { GrantClient } from '../accountClient.js';
import { Fault } from '../../contract/failures.js';
import { idOf, isInaccessible, fetchPage } from './api.js';
import { isFault } from '../faults.js';
import { asAnswer, asObject, asText, type Json } from '../json.js';

export interface Block {
  readonly type: string;
  /** The field of the block that has the name of its type. */
  readonly body: Json;
  readonly children: Block[];
}

const MAX_BLOCKS = 20_000;
const MAX_CHARACTERS = 10_000_000;
const MAX_DEPTH = 50;
/** Maximum number of concurrent requests for nested blocks. */
const AT_ONCE = 6;
const tooMuch = (what: string): Fault =>
  new Fault('too_large', `A page of Notion with ${what} is not read. Split the page.`);

/**
 * Blocks whose children are not read: they are another page or database, or Notion's API does not support their type.
 * `unsupported` blocks can have `has_children: true`, and a request for the children is answered with 400
 * (https://github.com/n8n-io/n8n/pull/26188, https://github.com/elastic/connectors/issues/2306).
 */
const CHILDREN_NOT_READ: ReadonlySet<string> = new Set(['child_page', 'child_database', 'unsupported']);

/** Returns all blocks of a page. @throws Fault too_large */
export async function readBlocks(client: GrantClient, pageId: string): Promise<readonly Block[]> {
  let [blocks, characters] = [0, 0];
  const childrenOf = async (id: string): Promise<readonly (readonly [Block, string | null])[]> => {
    const read: [Block, string | null][] = [];
    for (let at: string | null | undefined; at !== null;) {
      const page = await fetchPage(client, ['blocks', id, 'children'], at ?? null);
      blocks += page.values.length;
      characters += JSON.stringify(page.values).length;
      if (blocks > MAX_BLOCKS) throw tooMuch(`more than ${MAX_BLOCKS} blocks`);
      if (characters > MAX_CHARACTERS) throw tooMuch('more than ten million characters');
      for (const json of page.values) {
        const block = asAnswer<BlockObjectResponse>(json);
        const type = asText(block.type) ?? '';
        const body = asObject(json[type]);
        const hasReadableChildren = block.has_children === true && !CHILDREN_NOT_READ.has(type);
        // A synced copy has no children of its own: read those of its original.
        const original = type === 'synced_block' ? idOf(asObject(body['synced_from'])['block_id']) : null;
        const inner = original ?? (hasReadableChildren ? idOf(block.id) : null);
        read.push([{ type, body, children: [] }, inner]);
      }
      at = page.next;
    }
    return read;
  };

  const fill = async ([block, inner]: readonly [Block, string | null]) => {
    if (inner === null) return [];
    try {
      const inside = await childrenOf(inner);
      block.children.push(...inside.map(([child]) => child));
      return inside;
    } catch (error) {
      // The original of a synced block may not be shared with the integration.
      if (block.type === 'synced_block' && isInaccessible(error)) return [];
      // The block was deleted after it was listed; the page still exists.
      if (isFault(error, 'not_found')) return [];
      // Notion rejects requests for the children of some blocks: the page is read without them, and its number of
      // unsupported blocks increases.
      if (!(error instanceof Fault) || error.kind !== 'bad_response') throw error;
      block.children.push({ type: 'unsupported', body: {}, children: [] });
      return [];
    }
  };

  const topOf = async (): Promise<Awaited<ReturnType<typeof childrenOf>>> => {
    try {
      return await childrenOf(pageId);
    } catch (error) {
      // A page that shows an object of another product has no blocks that Notion lists. The title and properties of
      // such a page are still read. https://github.com/elastic/connectors/pull/2337
      if (!(error instanceof Fault) || error.kind !== 'bad_response') throw error;
      return [[{ type: 'unsupported', body: {}, children: [] }, null]];
    }
  };
  const top = await topOf();
  let level = top;
  for (let depth = 0; level.some(([, inner]) => inner !== null); depth += 1) {
    if (depth > MAX_DEPTH) throw tooMuch(`blocks nested more than ${MAX_DEPTH} deep`);
    const inside: (readonly [Block, string | null])[] = [];
    for (let from = 0; from < level.length; from += AT_ONCE)
      inside.push(...(await Promise.all(level.slice(from, from + AT_ONCE).map(fill))).flat());
    level = inside;
  }
  return top.map(([block]) => block);
}
