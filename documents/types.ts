/** Bytes → text → chunks. Nothing here touches the network or a store. */

export interface DocumentLimits {
  /** Elements inside one another at most; deeper ones are flattened, never an error. */
  readonly maxDepth: number;
  readonly maxAttributesPerElement: number;
  /** Characters of extracted text; past it a Fault too_large. */
  readonly maxTextCharacters: number;
}

/** What an HTML page's reader leaves out besides the boilerplate it finds by itself. Applied before the main text is looked for. */
export interface HtmlSkips {
  /** Tag names. */
  readonly tags: readonly string[];
  /** Class names, without a dot. */
  readonly classes: readonly string[];
  /** CSS selectors. */
  readonly selectors: readonly string[];
}

export interface ParseInput {
  readonly bytes: Uint8Array;
  /** The caller needs the bytes no more: where they own their memory the pool may take it, and leaves them empty. */
  readonly giveBytes?: boolean;
  /** The Content-Type header as received, charset included; null when unknown. */
  readonly contentType: string | null;
  /** The name the content came under; for a page its URL. */
  readonly name: string;
  /** The URL that relative links are resolved against; null for an upload. */
  readonly baseUrl: string | null;
  readonly html: HtmlSkips;
}

export interface ParsedDocument {
  /** Markdown-like text: headings as `#`, lists as `-`, tables as `| a | b |` rows, code in fences. Never empty. */
  readonly text: string;
  /** The format that was read, a value of the contract's file_format. */
  readonly format: 'HTML' | 'TXT' | 'MD';
  readonly mimeType: string;
  /** Facts for file_metadata: title, language, canonical_url, description… Only what the document says. JSON values. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface ChunkOptions {
  /** cl100k tokens at most, the prefix included. At least 1. */
  readonly chunkSize: number;
  /** cl100k tokens two neighbours share at most; 0 to chunkSize - 1. */
  readonly chunkOverlap: number;
  /** Put before each chunk (prepend_filename_to_chunks); counted inside chunkSize. Null for none. */
  readonly prefix: string | null;
}

export interface Chunk {
  readonly text: string;
  /** cl100k tokens of `text`; above chunkSize only where a single character has more. */
  readonly tokens: number;
  /** Where the chunk's own text (without prefix) lies in the parsed text: UTF-16 offsets, end exclusive. */
  readonly start: number;
  readonly end: number;
}

/** Where a chunk lies in the parsed text (UTF-16 offsets, end exclusive), and its tokens, the prefix included. */
export type Cut = Pick<Chunk, 'start' | 'end' | 'tokens'>;

/** A chunk's text is `prefix` and its cut of `text`. */
export interface ProcessedDocument extends ParsedDocument {
  readonly prefix: string;
  readonly cuts: readonly Cut[];
  /** cl100k tokens of the whole text. */
  readonly numTokens: number;
}

/** Which of a page's links are wanted. */
export interface LinkOptions {
  /** Answered at most. */
  readonly max: number;
  /**
   * Those that a crawl may follow only: to pages, by their address, of these hosts (with port), and not marked
   * nofollow. Null: every link.
   */
  readonly follow: { readonly hosts: readonly string[] } | null;
  /** Whether the page's source is answered too. */
  readonly withText: boolean;
}

export interface PageLinks {
  /** Normalised, each once, in the order of the page. */
  readonly urls: readonly string[];
  /** The page as it came, decoded; '' where it was not asked for. */
  readonly text: string;
}

/** One reader per format, in documents/parsers/<format>.ts. Throws a Fault (broken_content, no_text, too_large). */
export interface Parser {
  readonly format: ParsedDocument['format'];
  parse(input: ParseInput, limits: DocumentLimits): ParsedDocument;
}

/** Parses and chunks in worker threads, so that the caller's event loop goes on; a hang, crash or memory fault there is a Fault parse_limit. */
export interface DocumentPool {
  /**
   * An abort rejects with the signal's reason and ends the work.
   */
  process(input: ParseInput, chunking: ChunkOptions, signal?: AbortSignal): Promise<ProcessedDocument>;
  /** What a page links to. The bytes stay the caller's. Throws the same Faults, and the signal's reason. */
  links(input: ParseInput, options: LinkOptions, signal?: AbortSignal): Promise<PageLinks>;
  close(): Promise<void>;
}
