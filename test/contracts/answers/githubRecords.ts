/** Records of GitHub's REST API: the schemas of its OpenAPI document, with the fields that they require. */
import {
  anyObject,
  anything,
  each,
  eitherOf,
  flag,
  integer,
  listOf,
  timestamp,
  object,
  oneOf,
  orNull,
  type Shape,
  text,
} from './shape.js';

type Fields = Readonly<Record<string, Shape>>;
/** Returns the shape of an object. @param fields required fields @param more optional fields */
export const record = (fields: Fields, more: Fields = {}): Shape => object({ ...fields, ...more }, Object.keys(fields));

const nullableText = orNull(text);
const nullableTimestamp = orNull(timestamp);
const flags = <N extends string>(...names: readonly N[]): Record<N, Shape> => each(flag, ...names);

const PERSON = {
  ...each(text, 'login', 'node_id', 'avatar_url', 'url', 'html_url', 'followers_url', 'following_url', 'gists_url'),
  ...each(text, 'starred_url', 'subscriptions_url', 'organizations_url', 'repos_url', 'events_url'),
  ...each(text, 'received_events_url', 'type'),
  id: integer,
  gravatar_id: nullableText,
  site_admin: flag,
};
export const person = record(PERSON, {
  ...each(nullableText, 'name', 'email'),
  ...each(text, 'starred_at', 'user_view_type'),
});
const nullablePerson = orNull(person);

const PROFILE = {
  ...PERSON,
  ...each(integer, 'public_repos', 'public_gists', 'followers', 'following'),
  ...each(nullableText, 'name', 'company', 'blog', 'location', 'email', 'bio'),
  hireable: orNull(flag),
  ...each(timestamp, 'created_at', 'updated_at'),
};
const OWN = each(integer, 'private_gists', 'total_private_repos', 'owned_private_repos', 'disk_usage', 'collaborators');
const PROFILE_MORE = {
  ...each(text, 'user_view_type', 'ldap_dn'),
  ...each(nullableText, 'notification_email', 'twitter_username'),
  plan: anyObject,
  business_plus: flag,
};
/** The account of the token: without the scope `user`, GitHub returns its public profile. */
export const account = eitherOf(
  record({ ...PROFILE, ...OWN, two_factor_authentication: flag }, PROFILE_MORE),
  record(PROFILE, { ...PROFILE_MORE, ...OWN }),
);

const license = orNull(
  record({ ...each(text, 'key', 'name', 'node_id'), ...each(nullableText, 'url', 'spdx_id') }, { html_url: text }),
);
const REPOSITORY = {
  id: integer,
  ...each(integer, 'forks', 'forks_count', 'stargazers_count', 'watchers_count', 'size', 'open_issues_count'),
  ...each(integer, 'open_issues', 'watchers'),
  ...each(text, 'node_id', 'name', 'full_name', 'html_url', 'url', 'archive_url', 'assignees_url', 'blobs_url'),
  ...each(text, 'branches_url', 'collaborators_url', 'comments_url', 'commits_url', 'compare_url', 'contents_url'),
  ...each(text, 'contributors_url', 'deployments_url', 'downloads_url', 'events_url', 'forks_url', 'git_commits_url'),
  ...each(text, 'git_refs_url', 'git_tags_url', 'git_url', 'issue_comment_url', 'issue_events_url', 'issues_url'),
  ...each(text, 'keys_url', 'labels_url', 'languages_url', 'merges_url', 'milestones_url', 'notifications_url'),
  ...each(text, 'pulls_url', 'releases_url', 'ssh_url', 'stargazers_url', 'statuses_url', 'subscribers_url'),
  ...each(text, 'subscription_url', 'tags_url', 'teams_url', 'trees_url', 'clone_url', 'hooks_url', 'svn_url'),
  default_branch: text,
  license,
  owner: person,
  ...flags('private', 'fork', 'has_issues', 'has_projects', 'has_wiki', 'has_pages', 'archived', 'disabled'),
  ...each(nullableText, 'description', 'mirror_url', 'homepage', 'language'),
};
const REPOSITORY_MORE = {
  ...flags('is_template', 'has_pull_requests', 'allow_rebase_merge', 'allow_squash_merge', 'allow_auto_merge'),
  ...flags('delete_branch_on_merge', 'allow_update_branch', 'use_squash_pr_title_as_default', 'allow_merge_commit'),
  ...flags('allow_forking', 'web_commit_signoff_required', 'anonymous_access_enabled'),
  topics: listOf(text),
  pull_request_creation_policy: oneOf('all', 'collaborators_only'),
  ...each(text, 'visibility', 'master_branch', 'starred_at'),
  temp_clone_token: nullableText,
  squash_merge_commit_title: oneOf('PR_TITLE', 'COMMIT_OR_PR_TITLE'),
  squash_merge_commit_message: oneOf('PR_BODY', 'COMMIT_MESSAGES', 'BLANK'),
  merge_commit_title: oneOf('PR_TITLE', 'MERGE_MESSAGE'),
  merge_commit_message: oneOf('PR_BODY', 'PR_TITLE', 'BLANK'),
  permissions: record(flags('admin', 'pull', 'push'), flags('triage', 'maintain')),
  code_search_index_status: anyObject,
};
/** A repository in a list. */
export const repository = record(
  { ...REPOSITORY, has_downloads: flag, ...each(nullableTimestamp, 'pushed_at', 'created_at', 'updated_at') },
  { ...REPOSITORY_MORE, has_discussions: flag },
);
export const singleRepository = record(
  {
    ...REPOSITORY,
    has_discussions: flag,
    ...each(integer, 'subscribers_count', 'network_count'),
    ...each(timestamp, 'pushed_at', 'created_at', 'updated_at'),
  },
  {
    ...REPOSITORY_MORE,
    has_downloads: flag,
    ...each(anyObject, 'custom_properties', 'parent', 'source', 'code_of_conduct'),
    ...each(orNull(anyObject), 'organization', 'security_and_analysis', 'template_repository'),
  },
);

const association = oneOf(
  ...['COLLABORATOR', 'CONTRIBUTOR', 'FIRST_TIMER', 'FIRST_TIME_CONTRIBUTOR', 'MANNEQUIN', 'MEMBER', 'NONE', 'OWNER'],
);
const milestone = orNull(anyObject);
const times = { ...each(timestamp, 'created_at', 'updated_at'), closed_at: nullableTimestamp };
const issueLabel = eitherOf(
  text,
  object({
    id: integer,
    ...each(text, 'node_id', 'url', 'name'),
    ...each(nullableText, 'description', 'color'),
    default: flag,
  }),
);
export const issue = record(
  {
    ...each(integer, 'id', 'number', 'comments'),
    ...each(text, 'node_id', 'url', 'repository_url', 'labels_url', 'comments_url', 'events_url', 'html_url'),
    ...each(text, 'state', 'title'),
    ...each(nullablePerson, 'user', 'assignee'),
    labels: listOf(issueLabel),
    milestone,
    locked: flag,
    ...times,
  },
  {
    state_reason: orNull(oneOf('completed', 'reopened', 'not_planned', 'duplicate')),
    ...each(nullableText, 'body', 'active_lock_reason', 'parent_issue_url'),
    assignees: listOf(person),
    pull_request: record(each(nullableText, 'diff_url', 'html_url', 'patch_url', 'url'), {
      merged_at: nullableTimestamp,
    }),
    draft: flag,
    closed_by: nullablePerson,
    ...each(text, 'body_html', 'body_text', 'timeline_url'),
    ...each(anything, 'type', 'performed_via_github_app', 'pinned_comment', 'issue_field_values', 'repository'),
    ...each(anyObject, 'reactions', 'sub_issues_summary', 'issue_dependencies_summary'),
    author_association: association,
  },
);

const pullLabel = (description: Shape): Shape =>
  record({ id: integer, ...each(text, 'node_id', 'url', 'name', 'color'), description, default: flag });
const TEAM = {
  id: integer,
  ...each(text, 'node_id', 'name', 'slug', 'permission', 'url', 'html_url', 'members_url', 'repositories_url'),
  description: nullableText,
  type: oneOf('enterprise', 'organization'),
};
const TEAM_MORE = {
  ...each(text, 'privacy', 'notification_setting', 'ldap_dn', 'access_source'),
  ...each(integer, 'organization_id', 'enterprise_id'),
  permissions: anyObject,
};
/**
 * A branch. If the fork or its owner was deleted, its repository, owner and label are null, although the document
 * excludes that. https://github.com/github/rest-api-description/issues/1811, …/issues/5562
 */
const head = record({
  ...each(text, 'ref', 'sha'),
  label: nullableText,
  repo: orNull(repository),
  user: nullablePerson,
});
const base = record({ ...each(text, 'ref', 'sha', 'label'), repo: repository, user: nullablePerson });
const link = record({ href: text });
const PULL = {
  ...each(integer, 'id', 'number'),
  ...each(text, 'url', 'node_id', 'html_url', 'diff_url', 'patch_url', 'issue_url', 'commits_url', 'statuses_url'),
  ...each(text, 'review_comments_url', 'review_comment_url', 'comments_url', 'title'),
  ...each(nullableText, 'body', 'merge_commit_sha'),
  locked: flag,
  user: nullablePerson,
  milestone,
  ...times,
  merged_at: nullableTimestamp,
  assignee: nullablePerson,
  ...{ head, base },
  _links: record(
    each(link, 'comments', 'commits', 'statuses', 'html', 'issue', 'review_comments', 'review_comment', 'self'),
  ),
  author_association: association,
  auto_merge: orNull(anyObject),
};
const PULL_MORE = {
  active_lock_reason: nullableText,
  ...each(listOf(person), 'assignees', 'requested_reviewers'),
  stack: anything,
  draft: flag,
};
/** A pull request in a list, which has no counts. */
export const pull = record(
  { ...PULL, state: text, labels: listOf(pullLabel(text)) },
  { ...PULL_MORE, requested_teams: listOf(record({ ...TEAM, parent: orNull(anyObject) }, TEAM_MORE)) },
);
export const singlePull = record(
  {
    ...PULL,
    user: person,
    state: oneOf('open', 'closed'),
    labels: listOf(pullLabel(nullableText)),
    merged: flag,
    mergeable: orNull(flag),
    mergeable_state: text,
    merged_by: nullablePerson,
    maintainer_can_modify: flag,
    ...each(integer, 'comments', 'review_comments', 'commits', 'additions', 'deletions', 'changed_files'),
  },
  {
    ...PULL_MORE,
    requested_teams: listOf(record(TEAM, { ...TEAM_MORE, parent: orNull(anyObject) })),
    rebaseable: orNull(flag),
  },
);

export const reviewComment = record(
  {
    ...each(text, 'url', 'node_id', 'diff_hunk', 'path', 'commit_id', 'original_commit_id', 'body', 'html_url'),
    pull_request_url: text,
    id: integer,
    pull_request_review_id: orNull(integer),
    user: nullablePerson,
    ...each(timestamp, 'created_at', 'updated_at'),
    author_association: association,
    _links: record(each(link, 'self', 'html', 'pull_request')),
  },
  {
    ...each(integer, 'position', 'original_position', 'in_reply_to_id', 'line', 'original_line'),
    ...each(orNull(integer), 'start_line', 'original_start_line'),
    start_side: orNull(oneOf('LEFT', 'RIGHT')),
    side: oneOf('LEFT', 'RIGHT'),
    subject_type: oneOf('line', 'file'),
    reactions: anyObject,
    ...each(text, 'body_html', 'body_text'),
  },
);

export const changedFile = record(
  {
    sha: nullableText,
    filename: text,
    status: oneOf('added', 'removed', 'modified', 'renamed', 'copied', 'changed', 'unchanged'),
    ...each(integer, 'additions', 'deletions', 'changes'),
    ...each(text, 'blob_url', 'raw_url', 'contents_url'),
  },
  each(text, 'patch', 'previous_filename'),
);
const signature = orNull(object({ ...each(text, 'name', 'email'), date: timestamp }));
/** The account of an author is null or empty if the mail address belongs to none. */
const author = eitherOf(nullablePerson, object({}));
export const commit = record(
  {
    ...each(text, 'url', 'sha', 'node_id', 'html_url', 'comments_url'),
    commit: record(
      {
        ...each(signature, 'author', 'committer'),
        ...each(text, 'url', 'message'),
        comment_count: integer,
        tree: record(each(text, 'sha', 'url')),
      },
      {
        verification: record({
          verified: flag,
          reason: text,
          ...each(nullableText, 'payload', 'signature', 'verified_at'),
        }),
      },
    ),
    ...each(author, 'author', 'committer'),
    parents: listOf(record(each(text, 'sha', 'url'), { html_url: text })),
  },
  { stats: anyObject, files: listOf(changedFile) },
);
