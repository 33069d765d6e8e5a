/** Direct queries of sources: the request of each operation, and the connector's response. */

/** A list of CRM records. */
export interface CrmListQuery {
  readonly filters: Readonly<Record<string, string | null | undefined>>;
  readonly includes: readonly string[];
  readonly remote: boolean;
  readonly orderBy: string | null;
  readonly orderDir: 'asc' | 'desc';
  readonly pageSize: number;
  readonly cursor: string | null;
}
export interface CrmRecordQuery extends Pick<CrmListQuery, 'includes' | 'remote'> {
  readonly id: string;
}

/** One record of a GitHub repository. */
export interface GitHubRecordQuery {
  /** Null: the only repository of the account. */
  readonly repository: string | null;
  /** Number of the issue or pull request. */
  readonly number: number;
  readonly remote: boolean;
}
/** A list of records of a GitHub repository. */
export interface GitHubListQuery extends Omit<GitHubRecordQuery, 'number'> {
  /** Number of the pull request whose parts are listed; null for other lists. */
  readonly number: number | null;
  readonly filters: { readonly state?: string; readonly base?: string | null; readonly head?: string | null };
  readonly orderBy: string | null;
  readonly orderDir: 'asc' | 'desc';
  readonly page: number;
  readonly pageSize: number;
  readonly cursor: string | null;
}

/** A label of Gmail. */
export interface MailLabel {
  readonly id: string;
  readonly name: string;
  readonly type: 'user' | 'system';
}

/** A folder of an Outlook mailbox with its place in the tree. */
export interface MailFolder {
  readonly id: string;
  readonly name: string;
  /** Id of the parent folder; null for a root folder. */
  readonly parent: string | null;
  /** Id of the root folder above it; for a root folder its own id. */
  readonly root: string;
  readonly messages: number;
}

/** A category of Outlook, in the format of the operation that lists them. */
export interface MailCategory {
  readonly id: string;
  readonly name: string;
  /** Outlook's name of the color: `preset3`. */
  readonly color: string | null;
}

/** A SharePoint site of the tenant, in the format of the operation that lists them. */
interface ListedSite {
  readonly id: string;
  /** The name to connect the account with; null for the root site. */
  readonly site_name: string | null;
  readonly site_display_name: string;
  readonly site_url: string;
}
export interface SitesPage {
  readonly sites: readonly ListedSite[];
  readonly next_cursor: string | null;
}

type CrmKindName = 'accounts' | 'leads' | 'contacts' | 'opportunities';
type RepositoryList = 'issues' | 'pull_requests' | 'comments' | 'commits' | 'files';

interface Read<Query, Answer> {
  readonly query: Query;
  readonly answer: Answer;
}
type Nothing = Readonly<Record<string, never>>;

/** Every direct query by name. `unknown` answers are checked against the schema of their operation. */
export type LiveReads = { readonly [Name in CrmKindName]: Read<CrmListQuery, unknown> } & {
  readonly [Name in `one of ${CrmKindName}`]: Read<CrmRecordQuery, unknown>;
} & { readonly [Name in RepositoryList]: Read<GitHubListQuery, unknown> } & {
  readonly [Name in 'one of issues' | 'one of pull_requests']: Read<GitHubRecordQuery, unknown>;
} & {
  /** Slack: `types` are separated by commas. */
  readonly conversations: Read<
    { readonly types: string; readonly excludeArchived: boolean; readonly cursor: string | null },
    unknown
  >;
  readonly labels: Read<Nothing, readonly MailLabel[]>;
  /**
   * Outlook. `reference` is an id, a display name, a path, or a well-known name such as Inbox. Returns the folders that
   * match it, several if a name is not unique; without `reference`, all folders.
   */
  readonly folders: Read<{ readonly reference?: string }, readonly MailFolder[]>;
  readonly categories: Read<Nothing, readonly MailCategory[]>;
  readonly sites: Read<{ readonly cursor: string | null }, SitesPage>;
};
export type LiveReadName = keyof LiveReads;
