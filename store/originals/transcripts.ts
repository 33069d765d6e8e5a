import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Model } from 'mongoose';

import { Fault } from '../../contract/failures.js';
import type { Transcript } from '../../contract/files/transcripts.js';
import type { Tenant } from '../users/accept.js';
import type { OriginalDoc, TranscriptionJob } from '../models/originals.js';

/**
 * Maximum compressed size of a transcript in bytes: some weeks of speech. MongoDB limits a row to 16 MB, and the row of
 * a small recording contains the recording too.
 */
const MAX_BYTES = 10_000_000;

/** A recording that belongs to a file. */
export interface RecordingOwner extends Tenant {
  readonly fileId: number;
  readonly originalId: number;
}

/** The stored transcription of a recording. The recording and the transcript are deleted together. */
export interface StoredTranscription {
  readonly transcript: Transcript | null;
  /** A started job whose result is still missing. */
  readonly job: TranscriptionJob | null;
}

export interface Transcripts {
  /** Returns the stored transcription; null if the file has no such content. */
  find(owner: RecordingOwner): Promise<StoredTranscription | null>;
  /** Stores a started job, so that the next attempt waits for it; null removes it. */
  saveJob(owner: RecordingOwner, job: TranscriptionJob | null): Promise<void>;
  /** Stores a transcript in place of the job and of an earlier transcript. @throws Fault too_large */
  save(owner: RecordingOwner, transcript: Transcript): Promise<void>;
}

/** A stored transcript. Version 0.2.0 named the options `wishes`; the migration does not rewrite compressed texts. */
type StoredTranscript = Transcript | (Omit<Transcript, 'options'> & { readonly wishes: Transcript['options'] });

function readTranscript(json: string): Transcript {
  const stored = JSON.parse(json) as StoredTranscript;
  if (!('wishes' in stored)) return stored;
  const { wishes, ...transcript } = stored;
  return { ...transcript, options: wishes };
}

const [pack, unpack] = [promisify(gzip), promisify(gunzip)];

export function createTranscripts(rows: Model<OriginalDoc>): Transcripts {
  const rowFilter = ({ organizationId, userId, fileId, originalId }: RecordingOwner) => ({
    _id: originalId,
    organizationId,
    userId,
    fileId,
  });
  return {
    async find(owner) {
      const row = await rows.findOne(rowFilter(owner), { transcript: 1, transcription: 1 });
      if (row === null) return null;
      const packed = row.transcript ?? null;
      return {
        transcript: packed && readTranscript((await unpack(packed)).toString()),
        job: row.transcription ?? null,
      };
    },
    async saveJob(owner, job) {
      await rows.updateOne(rowFilter(owner), { $set: { transcription: job } });
    },
    async save(owner, transcript) {
      const packed = await pack(JSON.stringify(transcript));
      if (packed.length > MAX_BYTES)
        throw new Fault(
          'too_large',
          'The transcript of this recording is too long to store. Split the recording, and upload the parts.',
        );
      await rows.updateOne(rowFilter(owner), { $set: { transcript: packed, transcription: null } });
    },
  };
}
