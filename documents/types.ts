/** Types of the conversion of bytes to text and chunks. Nothing here uses the network or a store. */
import type { DocumentFormat, FileFormat } from '../contract/files/fileFormats.js';
import type { OcrLanguage } from '../contract/files/ocrLanguages.js';
import type { Transcript } from '../contract/files/transcripts.js';
import type { FileWarning } from '../contract/runs/ledger.js';
import type { LongText } from './longText.js';
import type { PageText, PlacedPage, PlacedSpeech } from './placedText.js';

export interface DocumentLimits {
  /**
   * Maximum nesting of elements. Deeper HTML elements are flattened: their contents are put into the innermost allowed
   * element. In other formats, deeper nesting is a Fault too_large.
   */
  readonly maxDepth: number;
  /** Maximum number of attributes: further ones of HTML are ignored; in other formats it is a Fault too_large. */
  readonly maxAttributesPerElement: number;
  /** Maximum number of HTML elements that are open at once, including flattened ones; beyond it a Fault too_large. */
  readonly maxHtmlDepth: number;
  /** Maximum number of attributes of one HTML element; beyond it a Fault too_large. */
  readonly maxHtmlAttributes: number;
  /** Maximum number of characters of extracted text; beyond it a Fault too_large. */
  readonly maxTextCharacters: number;
  /** Maximum size in bytes of a file that is parsed. Exceeding it, or one of the limits below, is a Fault too_large. */
  readonly maxFileBytes: number;
  /** Maximum number of members of a ZIP archive (the Office formats are ZIP archives). */
  readonly maxArchiveEntries: number;
  /** Maximum size in bytes of all unpacked members of an archive. */
  readonly maxUnpackedBytes: number;
  /** Maximum ratio of unpacked to packed bytes, for members over one megabyte. */
  readonly maxUnpackRatio: number;
  /** Maximum number of pages of a PDF, or slides of a presentation. */
  readonly maxPages: number;
  /** Maximum number of cells of all tables of a file, or values of a JSON file. */
  readonly maxCells: number;
  /** Maximum number of attachments of a message. */
  readonly maxAttachments: number;
}

/**
 * Parts that an HTML page's reader skips in addition to the boilerplate that it finds. Applied before the search for
 * the main text.
 */
export interface HtmlSkips {
  /** Tag names. */
  readonly tags: readonly string[];
  /** Class names, without a dot. */
  readonly classes: readonly string[];
  /** CSS selectors. */
  readonly selectors: readonly string[];
}

/** Evidence from the other pages of a site, for the reader of a page. */
export interface SiteEvidence {
  /** Host of the page, with port: blocks of different hosts never match. */
  readonly host: string;
  /** Ids of blocks that the site repeats. They are removed. */
  readonly repeated: readonly string[];
  /** Whether the result contains the ids of the page's blocks (`blocks` of ParsedDocument). */
  readonly listBlocks: boolean;
}

/** Numbers of removed repeated blocks of a page, and of their visible characters. */
export interface RepeatedBlocks {
  readonly blocks: number;
  readonly characters: number;
}

export interface ParseInput {
  /** The content; empty if `path` is set. */
  readonly bytes: Uint8Array;
  /** A file on this machine with the content, for content that should not be held in memory. It is only read. */
  readonly path?: string;
  /** Owner of the document: owners take turns at the readers. */
  readonly owner?: number;
  /** Whether the caller no longer needs the bytes: then the pool may transfer them and leave them empty. */
  readonly transferBytes?: boolean;
  /** The Content-Type header as received, including the charset; null if unknown. */
  readonly contentType: string | null;
  /** Name of the file; for a page its URL. */
  readonly name: string;
  /** The format, if it is already known; the content is then not examined to detect it. */
  readonly readAs?: DocumentFormat;
  /** Base URL of relative links; null for an upload. */
  readonly baseUrl: string | null;
  readonly html: HtmlSkips;
  /** For a page of a scrape. */
  readonly site?: SiteEvidence;
  /** The transcript of a recording, which is read instead of its bytes. */
  readonly recording?: { readonly format: FileFormat; readonly mimeType: string; readonly transcript: Transcript };
  /** Pages with recognized text, which replaces the text that the file contains for these pages. */
  readonly recognizedPages?: readonly PageText[];
  /**
   * Whether OCR follows for the pages without text: then a PDF without any text is not an error, and its text is empty.
   */
  readonly beforeOcr?: boolean;
  /** Whether tables are searched for on the pages of a PDF that contain text. */
  readonly findTables?: boolean;
}

/** A file inside another file, which is ingested as a separate file. */
export interface Attachment {
  readonly name: string;
  /** The declared type; null if there is none. */
  readonly contentType: string | null;
  readonly bytes: Uint8Array;
}

/**
 * Rows of a table, or objects of a JSON file, in the parsed text: flat pairs of start and end offsets, ascending. Text
 * between two items (the name of a sheet) belongs to the next item. If `maxItemsPerChunk` is set, this item begins a
 * new chunk.
 */
export type Items = readonly number[];

/** Numbers of omitted parts of a file by kind, all above zero. */
export type NotRead = Readonly<Record<string, number>>;

export interface ParsedDocument {
  /**
   * Markdown-like text: headings as `#`, lists as `-`, tables as `| a | b |` rows, code in fences. Empty only for a PDF
   * that is parsed before OCR (`beforeOcr`).
   */
  readonly text: string;
  /** The detected format, a value of the contract's file_format. */
  readonly format: FileFormat;
  readonly mimeType: string;
  /**
   * Fields for file_metadata that the document states: title, language, canonical_url, description… JSON values.
   * `named_as` is the format that the name or type suggested, if the content has another one.
   */
  readonly metadata: Readonly<Record<string, unknown>>;
  /**
   * Numbers of parts of the file that the reader omitted, by kind, such as `pictures` or `embedded_files`. Absent if
   * everything was read. The registry adds it to file_metadata as `not_read`.
   */
  readonly notRead?: NotRead;
  /** Warnings that the text may be wrong, stored in the file's record. */
  readonly warnings?: readonly FileWarning[];
  /** Creation time that the document states, as ISO 8601. */
  readonly sourceCreatedAt?: string;
  readonly pages?: readonly PlacedPage[];
  /**
   * Numbers of the pages without text, which OCR could read: scans. If `beforeOcr` is set, also the numbers of scans
   * whose only text is a stamp.
   */
  readonly pagesWithoutText?: readonly number[];
  readonly items?: Items;
  /**
   * Tables on pages, each as its rows. A chunk with rows of a table contains no other text and no rows of another
   * table.
   */
  readonly tables?: readonly Items[];
  /** Offsets at which a chunk must begin, ascending: the starts of the posts of a thread and of the text after them. */
  readonly sections?: readonly number[];
  /** Positions of a recording's speech, in the order of the text. */
  readonly speech?: readonly PlacedSpeech[];
  /** Ids of the blocks of a page, if they were requested. */
  readonly blocks?: readonly string[];
  readonly attachments?: readonly Attachment[];
}

export interface ChunkOptions {
  /** Maximum number of cl100k tokens, including the prefix. At least 1. */
  readonly chunkSize: number;
  /** Maximum number of cl100k tokens that two neighbours share; 0 to chunkSize - 1. */
  readonly chunkOverlap: number;
  /** Text before each chunk (prepend_filename_to_chunks), counted in chunkSize. Null for none. */
  readonly prefix: string | null;
  /** Whether no chunk spans pages. No effect without pages. Default false. */
  readonly setPageAsBoundary?: boolean;
  /** Maximum number of rows or objects per chunk of a CSV, TSV, XLSX or JSON file. Default null: as many as fit. */
  readonly maxItemsPerChunk?: number | null;
  /**
   * Whether a row is cut where a chunk is full. If false, such a row begins a new chunk, and only a row that is longer
   * than a chunk is cut. No effect on JSON files and on tables of pages. Default false.
   */
  readonly splitRows?: boolean;
}

export interface Chunk {
  readonly text: string;
  /** Number of cl100k tokens of `text`; above chunkSize only if a single character has more. */
  readonly tokens: number;
  /** Start of the chunk's own text (without prefix) in the parsed text: UTF-16 offset, end exclusive. */
  readonly start: number;
  readonly end: number;
}

/** The position of a chunk in the parsed text (UTF-16 offsets, end exclusive), and its tokens including the prefix. */
export interface Cut extends Pick<Chunk, 'start' | 'end' | 'tokens'> {
  /**
   * The chunk's content_metadata, if it has any: pg_start, pg_end, x1, x2, y1, y2, boxes; block_types; for speech
   * start_offset_sec, end_offset_sec, speakers.
   */
  readonly metadata?: Record<string, unknown>;
}

/**
 * The result of parsing and chunking. A chunk's text is `prefix` and its cut of `text`. The inputs of the cuts (pages,
 * items, tables, sections, speech) are omitted.
 */
export interface ProcessedDocument extends Omit<
  ParsedDocument,
  'pages' | 'items' | 'tables' | 'sections' | 'speech' | 'text'
> {
  /** A long text is in a file until it is closed. */
  readonly text: string | LongText;
  readonly prefix: string;
  readonly cuts: readonly Cut[];
  /** Number of cl100k tokens of the whole text. */
  readonly numTokens: number;
}

/** Selects the links of a page. */
export interface LinkOptions {
  /** Maximum number of returned links. */
  readonly max: number;
  /**
   * Returns only links that a crawl may follow: without nofollow, to these hosts (with port), and with an address that
   * does not end like that of a file (`.pdf`). Null: all links.
   */
  readonly follow: { readonly hosts: readonly string[] } | null;
  /** Whether the page's source is returned too. */
  readonly withText: boolean;
}

export interface PageLinks {
  /** Normalised addresses without duplicates, in document order. */
  readonly urls: readonly string[];
  /** The decoded page; '' unless it was requested. */
  readonly text: string;
}

/** Options of the recognition of a picture or of a scanned page. */
export interface RecognizeOptions {
  /** Page number from 1; 1 for a picture. */
  readonly page: number;
  /** Whether tables are searched for. */
  readonly findTables: boolean;
  /** Languages to choose from, the most likely first. Default: those of the pool's settings. */
  readonly languages?: readonly OcrLanguage[];
}

/** The detected type of a file before it is parsed. */
export interface Identified {
  readonly format: FileFormat;
  readonly mimeType: string;
  /** The format that the name or the declared type suggested, if the content has another one; else null. */
  readonly namedAs: FileFormat | null;
}

/**
 * The parser of one format, in documents/parsers/. It receives bytes, never a path. Throws a Fault
 * (broken_content, no_text, too_large, encrypted, unsupported_type).
 */
export interface Parser {
  parse(input: ParseInput, limits: DocumentLimits): ParsedDocument | Promise<ParsedDocument>;
}

/**
 * Parses and chunks in worker threads (pages) and processes (files), so that the caller's event loop stays free. A
 * hang, a crash or a memory error there becomes a Fault parse_limit.
 */
export interface DocumentPool {
  /** Parses and chunks a document. An abort rejects with the signal's reason and ends the work. */
  process(input: ParseInput, chunking: ChunkOptions, signal?: AbortSignal): Promise<ProcessedDocument>;
  /**
   * Returns the links of a page. Its bytes stay usable for the caller, unless `transferBytes` is set. Throws the Faults
   * that process() throws, and the signal's reason.
   */
  links(input: ParseInput, options: LinkOptions, signal?: AbortSignal): Promise<PageLinks>;
  /**
   * Returns the text of one page by OCR, without paragraphs if there is none. Uses other processes than the file
   * readers.
   */
  recognize(input: ParseInput, options: RecognizeOptions, signal?: AbortSignal): Promise<PageText>;
  close(): Promise<void>;
}
