import { ErrorCode, McpError, type ReadResourceResult } from '@modelcontextprotocol/sdk/types.js';

import type { FileRecord } from '../../contract/files/records.js';
import { originalOf } from '../files/links.js';
import { rawFile } from '../files/storedFile.js';
import { userFilesV2 } from '../files/userFiles.js';
import { HttpError } from '../http/errors.js';
import type { Agent } from './agent.js';
import { firstThatFit, capacityOf } from './bounds.js';
import { messageOf, toHttpError } from './callTool.js';
import { NOTICE } from './content.js';
import { fileOfAgent, readText } from './readText.js';
import type { Listed } from './schemas.js';
import { readUri, uriOf } from './uris.js';

/** Files per page of resources/list. */
const FILES_PER_PAGE = 100;
/** Error code of the protocol for an unknown resource. */
const RESOURCE_NOT_FOUND = -32_002;
const TEXT = 'text/plain';

/** Templates of all resources. */
export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: 'allotrope://files/{id}{?offset}',
    name: 'file-text',
    title: 'Text of a file',
    description: 'Extracted text of a file from a character offset on; _meta.next is the URI of the next part.',
    mimeType: TEXT,
  },
  {
    uriTemplate: 'allotrope://files/{id}/original',
    name: 'file-original',
    title: 'Original of a file',
    description: 'The uploaded or fetched bytes; for a large one, a text with a temporary address for them.',
  },
];

/** Returns a page of the agent's files, without containers. @param cursor as the previous page returned it */
export async function listResources(cursor: string | undefined, { perform, deps }: Agent) {
  if (cursor !== undefined && !/^\d{1,15}$/.test(cursor))
    throw new McpError(ErrorCode.InvalidParams, 'Send the cursor as the previous page returned it, or none.');
  const answer = await perform(userFilesV2, {
    body: {
      filters: { include_containers: false },
      order_by: 'id',
      pagination: { limit: FILES_PER_PAGE, starting_id: Number(cursor ?? 0) },
    },
  });
  const { results, count } = answer as Listed<FileRecord>;
  const listed = results.map((file) => ({
    uri: uriOf(file.id),
    name: file.name ?? `file ${file.id}`,
    mimeType: TEXT,
    description: `${file.source}, ${file.sync_status}`,
  }));
  const resources = firstThatFit(listed, deps.settings.mcpMaxResultCharacters);
  const last = results[resources.length - 1];
  return { resources, ...(last && resources.length < count ? { nextCursor: String(last.id) } : {}) };
}

/**
 * Returns a file's original in base64; null if it has none, or if it has more than `max` characters in base64.
 */
async function smallOriginal(agent: Agent, fileId: number, max: number): Promise<string | null> {
  const ref = originalOf(await fileOfAgent(agent, fileId));
  const { originals, contents } = agent.deps.store;
  const stored =
    ref && (ref.kind === 'original' ? await originals.stream(ref, ref.generation) : await contents.get(ref));
  if (!stored) return null;
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of stored instanceof Uint8Array ? [stored] : stored) {
    size += part.length;
    if (size * 4 > max * 3) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('base64');
}

async function readOriginal(agent: Agent, uri: string, fileId: number): Promise<ReadResourceResult> {
  const blob = await smallOriginal(agent, fileId, capacityOf(agent.deps.settings.mcpMaxResultCharacters));
  if (blob !== null) return { contents: [{ uri, mimeType: 'application/octet-stream', blob }] };
  const link = await agent.perform(rawFile, { params: { file_id: String(fileId) } });
  const { presigned_url: url } = link as { presigned_url: string };
  const text = `The original is larger than one result may be. For one hour it can be downloaded from ${url}`;
  return { contents: [{ uri, mimeType: TEXT, text }] };
}

/**
 * Returns a resource: a part of a text, or an original.
 * @throws McpError with what to do, if the resource is unknown or the file has no such content
 */
export async function readResource(uri: string, agent: Agent): Promise<ReadResourceResult> {
  const target = readUri(uri);
  if (target === null)
    throw new McpError(
      RESOURCE_NOT_FOUND,
      'There is no such resource. Send allotrope://files/{id} with the id of a file, or list the resources.',
    );
  try {
    const { fileId, offset, isOriginal } = target;
    if (isOriginal) return await readOriginal(agent, uri, fileId);
    const { text, next } = await readText(agent, { fileId, offset, page: null, length: Infinity });
    const continuation = next === null ? {} : { next: `${uriOf(fileId)}?offset=${next}` };
    return { contents: [{ uri, mimeType: TEXT, text, _meta: { notice: NOTICE, ...continuation } }] };
  } catch (error) {
    const { status, ...httpError } = toHttpError(error, agent);
    const code = status === 404 ? RESOURCE_NOT_FOUND : status < 500 ? ErrorCode.InvalidParams : ErrorCode.InternalError;
    throw new McpError(code, messageOf(new HttpError(status, httpError.detail, httpError.retryAfterSeconds)));
  }
}
