import {
  account,
  changedFile,
  commit,
  issue,
  pull,
  record,
  repository,
  reviewComment,
  singlePull,
  singleRepository,
} from './githubRecords.js';
import { anyObject, each, eitherOf, flag, integer, listOf, object, oneOf, orNull, type Shape, text } from './shape.js';
import type { AnswerTable } from './table.js';

const nullableText = orNull(text);
const links = record({ ...each(nullableText, 'git', 'html'), self: text });
const LOCATION = {
  size: integer,
  ...each(text, 'name', 'path', 'sha', 'url'),
  ...each(nullableText, 'git_url', 'html_url', 'download_url'),
  _links: links,
};
/** The object at a path, in the media type "object", the only one that the connector requests. */
const content = eitherOf(
  record(
    { ...LOCATION, type: oneOf('dir') },
    { ...each(text, 'content', 'encoding'), entries: listOf(record({ ...LOCATION, type: text })) },
  ),
  record(
    { ...LOCATION, type: oneOf('file'), encoding: oneOf('base64', 'none'), content: text },
    each(text, 'target', 'submodule_git_url'),
  ),
  record({ ...LOCATION, type: oneOf('symlink'), target: text }),
  record({ ...LOCATION, type: oneOf('submodule'), submodule_git_url: text }),
);
const branch = record(
  {
    name: text,
    commit,
    _links: record(each(text, 'html', 'self')),
    protected: flag,
    protection: anyObject,
    protection_url: text,
  },
  { pattern: text, required_approving_review_count: integer },
);
const tree = record(
  {
    sha: text,
    truncated: flag,
    tree: listOf(
      record(
        {
          ...each(text, 'path', 'sha'),
          mode: oneOf('100644', '100755', '040000', '160000', '120000'),
          type: oneOf('blob', 'tree', 'commit'),
        },
        { size: integer, url: text },
      ),
    ),
  },
  { url: text },
);
const blob = record(
  { ...each(text, 'content', 'encoding', 'url', 'sha', 'node_id'), size: orNull(integer) },
  { highlighted_content: text },
);

/**
 * https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api: all refusals have the field `message`.
 */
const refusal: Shape = object(
  { ...each(text, 'message', 'documentation_url', 'url', 'status'), errors: listOf(anyObject) },
  ['message'],
);

export const github: AnswerTable = {
  name: 'github',
  specification: 'https://github.com/octokit/openapi',
  version: '23.0.2',
  takenOn: '2026-11-27',
  refusal,
  operations: {
    'GET /user': account,
    'GET /user/repos': listOf(repository),
    'GET /repos/{owner}/{repo}': singleRepository,
    'GET /repos/{owner}/{repo}/branches/{branch}': branch,
    'GET /repos/{owner}/{repo}/contents/{path+}': content,
    'GET /repos/{owner}/{repo}/git/blobs/{file_sha}': blob,
    'GET /repos/{owner}/{repo}/git/trees/{tree_sha}': tree,
    'GET /repos/{owner}/{repo}/issues': listOf(issue),
    'GET /repos/{owner}/{repo}/issues/{issue_number}': issue,
    'GET /repos/{owner}/{repo}/pulls': listOf(pull),
    'GET /repos/{owner}/{repo}/pulls/{pull_number}': singlePull,
    'GET /repos/{owner}/{repo}/pulls/{pull_number}/comments': listOf(reviewComment),
    'GET /repos/{owner}/{repo}/pulls/{pull_number}/commits': listOf(commit),
    'GET /repos/{owner}/{repo}/pulls/{pull_number}/files': listOf(changedFile),
  },
};
