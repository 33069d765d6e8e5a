/** Bytes → text → chunks. Nothing here touches the network or a store. */
import type { DocumentFormat, FileFormat } from '../contract/fileFormats.js';
import type { Transcript } from '../contract/transcripts.js';
import type { LongText } from './longText.js';

export interface DocumentLimits {
  /** Elements inside one another at most: deeper ones of HTML are flattened, past those of other formats a Fault too_large. */
  readonly maxDepth: number;
  /** Likewise: of HTML further ones are not read. */
  readonly maxAttributesPerElement: number;
  /** Elements of HTML open at once; past it a Fault too_large, and so for the attributes of one of them. */
  readonly maxHtmlDepth: number;
  readonly maxHtmlAttributes: number;
  /** Characters of extracted text; past it a Fault too_large. */
  readonly maxTextCharacters: number;
  /** Bytes of a file that is read whole; past it a Fault too_large, as for all below. */
  readonly maxFileBytes: number;
  /** Of a ZIP archive (the Office formats are ZIP archives). */
  readonly maxArchiveEntries: number;
  /** What an archive's members may hold unpacked, taken together. */
  readonly maxUnpackedBytes: number;
  /** How many bytes one packed byte may become, in what unpacks to more than a megabyte. */
  readonly maxUnpackRatio: number;
  /** Of a PDF; slides of a presentation. */
  readonly maxPages: number;
  /** Cells of a table or values of a JSON file. */
  readonly maxCells: number;
  /** Of a message. */
  readonly maxAttachments: number;
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
  /** The content; empty where `path` is given. */
  readonly bytes: Uint8Array;
  /** A file on this machine that holds the content, for what is better not carried about. Read, never changed. */
  readonly path?: string;
  /** Whose document it is: owners take turns at the readers. */
  readonly owner?: number;
  /** The caller needs the bytes no more: where they own their memory the pool may take it, and leaves them empty. */
  readonly giveBytes?: boolean;
  /** The Content-Type header as received, charset included; null when unknown. */
  readonly contentType: string | null;
  /** The name the content came under; for a page its URL. */
  readonly name: string;
  /** Known beforehand: the content is not looked at to find its format. */
  readonly readAs?: DocumentFormat;
  /** The URL that relative links are resolved against; null for an upload. */
  readonly baseUrl: string | null;
  readonly html: HtmlSkips;
  /** Of a recording: what is said in it, which is read in place of its bytes. */
  readonly recording?: { readonly format: FileFormat; readonly mimeType: string; readonly transcript: Transcript };
  /** Pages whose text was found in their picture; they take the place of what the file itself says of these pages. */
  readonly recognizedPages?: readonly PageText[];
  /** OCR comes next, for the pages without text: a PDF that has none at all is no fault, its text is empty. */
  readonly beforeOcr?: boolean;
  /** Whether tables are looked for on the pages of a PDF that have their text in the file. */
  readonly findTables?: boolean;
}

/** A line of a page with its box, in points from the page's upper left corner. */
export interface PageLine {
  readonly text: string;
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

/** Lines that belong together. */
export interface PageParagraph {
  readonly lines: readonly PageLine[];
  /** The rank (1 to 6) of a heading; absent for anything else. */
  readonly heading?: number;
  /** Each line is a row of a table, in the form `header: value, header: value`. */
  readonly isTable?: boolean;
}

/** What one page says, in reading order: of a PDF's reader, or of OCR. */
export interface PageText {
  /** From 1. */
  readonly number: number;
  readonly paragraphs: readonly PageParagraph[];
}

/** Where a line of a page lies in the parsed text. */
export interface PlacedLine extends Omit<PageLine, 'text'> {
  readonly start: number;
  readonly end: number;
}

/** Where a page lies in the parsed text (UTF-16 offsets, end exclusive). */
export interface PlacedPage {
  readonly number: number;
  readonly start: number;
  readonly end: number;
  /** In the order of the text. */
  readonly lines: readonly PlacedLine[];
}

/** Where what was said at a time lies in the parsed text (UTF-16 offsets, end exclusive); times in seconds. */
export interface PlacedSpeech {
  readonly start: number;
  readonly end: number;
  readonly startSec: number;
  readonly endSec: number;
  /** Null where speakers are not told apart. */
  readonly speaker: string | null;
}

/** A file inside a file, to be ingested as a file of its own. */
export interface Attachment {
  readonly name: string;
  /** As declared; null when nothing was. */
  readonly contentType: string | null;
  readonly bytes: Uint8Array;
}

/**
 * Rows of a table, or objects of a JSON file, in the parsed text: flat pairs of start and end offsets, ascending.
 * Text between two items (the name of a sheet) belongs to the item after it and begins a new group.
 */
export type Items = readonly number[];

export interface ParsedDocument {
  /** Markdown-like text: headings as `#`, lists as `-`, tables as `| a | b |` rows, code in fences. Never empty. */
  readonly text: string;
  /** The format that was read, a value of the contract's file_format. */
  readonly format: FileFormat;
  readonly mimeType: string;
  /**
   * Facts for file_metadata: title, language, canonical_url, description… Only what the document says. JSON values.
   * `named_as` is the format that the name or type promised, where the content is another one.
   */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** When the document says it was made, as ISO 8601. */
  readonly sourceCreatedAt?: string;
  readonly pages?: readonly PlacedPage[];
  /** Numbers of the pages without a word of text: a scan, which OCR could read. Before OCR also of those that are scans with a stamp. */
  readonly pagesWithoutText?: readonly number[];
  readonly items?: Items;
  /** Tables on pages, each by its rows; their chunks hold nothing else. */
  readonly tables?: readonly Items[];
  /** Of a recording, in the order of the text. */
  readonly speech?: readonly PlacedSpeech[];
  readonly attachments?: readonly Attachment[];
}

export interface ChunkOptions {
  /** cl100k tokens at most, the prefix included. At least 1. */
  readonly chunkSize: number;
  /** cl100k tokens two neighbours share at most; 0 to chunkSize - 1. */
  readonly chunkOverlap: number;
  /** Put before each chunk (prepend_filename_to_chunks); counted inside chunkSize. Null for none. */
  readonly prefix: string | null;
  /** No chunk spans pages, and each says where it lies on its page. Documents without pages take no notice. Default no. */
  readonly setPageAsBoundary?: boolean;
  /** Each chunk says where it lies on its pages, wherever it may end. Default no. */
  readonly placeChunks?: boolean;
  /** Rows or objects a chunk has at most. Documents without items take no notice. Default null: as many as fit. */
  readonly maxItemsPerChunk?: number | null;
  /** A row is cut where a chunk is full; else it stays whole where it fits a chunk of its own. Default no. */
  readonly splitRows?: boolean;
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
export interface Cut extends Pick<Chunk, 'start' | 'end' | 'tokens'> {
  /** The chunk's content_metadata, where it has any: pg_start, pg_end, x1, x2, y1, y2; block_types; of speech start_offset_sec, end_offset_sec, speakers. */
  readonly metadata?: Record<string, unknown>;
}

/** A chunk's text is `prefix` and its cut of `text`. What only the cuts are made of (pages, items, tables, speech) stays behind. */
export interface ProcessedDocument extends Omit<ParsedDocument, 'pages' | 'items' | 'tables' | 'speech' | 'text'> {
  /** A long text lies in a file until it is closed. */
  readonly text: string | LongText;
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

/** What is to be recognized in a picture, or on a page that is one. */
export interface RecognizeOptions {
  /** From 1; 1 for a picture. */
  readonly page: number;
  /** Whether tables are looked for. */
  readonly findTables: boolean;
}

/** What a file is found to be, before it is read. */
export interface Identified {
  readonly format: FileFormat;
  readonly mimeType: string;
  /** The format that the name or the declared type promised, where the content is another one; else null. */
  readonly namedAs: FileFormat | null;
}

/**
 * One reader per format, in documents/parsers/<format>.ts. It is given bytes, never a path. Throws a Fault
 * (broken_content, no_text, too_large, encrypted).
 */
export interface Parser {
  parse(input: ParseInput, limits: DocumentLimits): ParsedDocument | Promise<ParsedDocument>;
}

/** Parses and chunks in worker threads (pages) and processes (files), so that the caller's event loop goes on; a hang, crash or memory fault there is a Fault parse_limit. */
export interface DocumentPool {
  /**
   * An abort rejects with the signal's reason and ends the work.
   */
  process(input: ParseInput, chunking: ChunkOptions, signal?: AbortSignal): Promise<ProcessedDocument>;
  /** What a page links to. The bytes stay the caller's. Throws the same Faults, and the signal's reason. */
  links(input: ParseInput, options: LinkOptions, signal?: AbortSignal): Promise<PageLinks>;
  /** What one page says by OCR, without a paragraph where it says nothing. In processes apart from those that read files. */
  recognize(input: ParseInput, options: RecognizeOptions, signal?: AbortSignal): Promise<PageText>;
  close(): Promise<void>;
}
