/** What a source that accounts are connected to declares and does. Facts in, items and bytes out; errors are Faults. */
import type { FileFormat } from '../contract/fileFormats.js';
import type { ErrorClass } from './errorClasses.js';

/** Something that an account holds: a folder, a page, a file. */
export interface SourceItem {
  /** Unique in its account, and the same whenever it is listed. */
  readonly externalId: string;
  /** What it lies in; null for what lies in nothing. */
  readonly parentExternalId: string | null;
  /** The outermost thing it lies in; null for that itself. */
  readonly rootExternalId: string | null;
  readonly name: string;
  /** In the words of the contract: SPACE, FOLDER, PAGE… */
  readonly itemType: string;
  /** Where a person opens it. */
  readonly externalUrl: string | null;
  readonly fileFormat: FileFormat | null;
  /** Whether a caller can have it synced: itself, or what lies in it. */
  readonly isSelectable: boolean;
  /** Whether anything can lie in it. */
  readonly isExpandable: boolean;
  /** Whether it becomes a file; else only what lies in it does. */
  readonly hasContent: boolean;
  /** ISO 8601. */
  readonly createdAt: string | null;
}

export interface ItemPage {
  readonly items: readonly SourceItem[];
  /** Where the next page begins, in the source's own words; null after the last one. */
  readonly next: string | null;
}

/** An outermost container, as a caller sees it who looks at the source just now. */
export interface Container {
  /** As the source itself calls it. */
  readonly id: number;
  /** The externalId of its item. */
  readonly name: string;
  readonly url: string | null;
}

export interface ContainerPage {
  readonly containers: readonly Container[];
  /** The number of the next page; null after the last one. */
  readonly next: number | null;
}

/** Whose account it is. */
export interface Identity {
  /** The same for the same account, whatever credentials lead to it. */
  readonly account: string;
  /** What else a caller may know of it. No secrets. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The content of an item. */
export interface ItemContent {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** As the record calls its format; null: what its reader finds it to be. */
  readonly format: string | null;
  readonly mimeType: string;
  /** What it is called by now; null where its listing alone knows. */
  readonly name: string | null;
  /** Where a person opens it; also the base of relative links. */
  readonly url: string;
  /** Facts for file_metadata. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** The answer of a source that is not a success. */
export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed where it is JSON; else the text. */
  readonly body: unknown;
}

/** A GET that a connector made up by itself, for instance because it is signed. */
export interface SourceRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the content of an item is asked for: bounded and timed as such. */
  readonly isContent: boolean;
  /** Refusals that its connector deals with itself: they are answers. */
  readonly takes: (refusal: Refusal) => boolean;
}

export interface SourceAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** Calls a source for one account: with its credentials, in its turn, and with its errors as Faults. */
export interface SourceClient {
  /** Where the source is. */
  readonly baseUrl: string;
  /**
   * The JSON at a path below the source's address. Throws a Fault.
   * @param path its parts, not encoded: what a caller named stays one part
   * @param accept the media type that is asked for, where it is not the usual one
   */
  get(
    path: readonly string[],
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
    accept?: string,
  ): Promise<Readonly<Record<string, unknown>>>;
  /** The same where the answer is a list, with the headers that say how it goes on. */
  list(
    path: readonly string[],
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<{ readonly values: readonly unknown[]; readonly headers: Readonly<Record<string, string>> }>;
  /** The answer to a request, in the same turn and with the same Faults. `headers` of the connector are not put on. */
  send(request: SourceRequest, signal: AbortSignal): Promise<SourceAnswer>;
}

/** @template Credentials what its user hands us, as JSON */
export interface Connector<Credentials> {
  /** What each request carries to say who asks. */
  headers(credentials: Credentials): Readonly<Record<string, string>>;
  /** What a refusal means where that is not what its status says in errorClasses.ts; null: it is. */
  classify?(refusal: Refusal): ErrorClass | null;
  /** How long a refusal asks to wait, where the usual headers do not say it. */
  waitMs?(refusal: Refusal, now: number): number | null;
  /** Asks whose account the credentials lead to. Throws a Fault where they lead nowhere. */
  identify(client: SourceClient, credentials: Credentials, signal: AbortSignal): Promise<Identity>;
  /** A page of the outermost things there are. */
  roots(client: SourceClient, credentials: Credentials, cursor: string | null, signal: AbortSignal): Promise<ItemPage>;
  /** A page of the outermost containers by its number, for sources whose operations list them so. */
  containers?(
    client: SourceClient,
    page: { readonly number: number; readonly size: number },
    signal: AbortSignal,
  ): Promise<ContainerPage>;
  /** A page of an item itself and of all that lies below it. Throws a Fault not_found where there is no such item. */
  below(
    client: SourceClient,
    externalId: string,
    cursor: string | null,
    signal: AbortSignal,
    credentials: Credentials,
  ): Promise<ItemPage>;
  /** The content of one item. */
  open(client: SourceClient, externalId: string, signal: AbortSignal, credentials: Credentials): Promise<ItemContent>;
}
