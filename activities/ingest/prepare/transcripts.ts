import { Fault } from '../../../contract/failures.js';
import { isRecording, coversRequest, type Transcript } from '../../../contract/files/transcripts.js';
import type { FileDoc } from '../../../store/models/files.js';
import type { StoredTranscription, RecordingOwner } from '../../../store/originals/transcripts.js';
import type { ActivityDeps } from '../../deps.js';
import { Deferred } from './deferred.js';

/** Whether a file is read by transcription. */
export const isTranscribed = ({ statistics, options }: FileDoc): boolean =>
  isRecording(statistics?.fileFormat) && !options.storeFileOnly;

/** Returns the owner of a recording. @throws Fault if the content no longer exists */
export function recordingOwner({ organizationId, userId, _id: fileId, original }: FileDoc): RecordingOwner {
  if (!original) throw new Fault('gone', 'The uploaded content no longer exists. Upload it again.');
  return { organizationId, userId, fileId, originalId: original.id };
}

/**
 * Returns the stored transcript and job of a recording. Each is null if it was created by another service than the file
 * names, or without an option that the file has. @throws Fault if the content no longer exists
 */
export async function storedTranscription(file: FileDoc, { store }: Pick<ActivityDeps, 'store'>) {
  const stored: StoredTranscription | null = await store.transcripts.find(recordingOwner(file));
  if (stored === null) throw new Fault('gone', 'The uploaded content no longer exists. Upload it again.');
  const { transcript, job } = stored;
  return {
    transcript: transcript && coversRequest(transcript, file.options) ? transcript : null,
    job: job && coversRequest(job, file.options) ? job : null,
  };
}

/**
 * Returns the transcript of a file; null if it is not a recording.
 * @throws Deferred until the transcript exists: transcription is a separate step, see transcribe.ts
 */
export async function transcriptOf(file: FileDoc, deps: Pick<ActivityDeps, 'store'>): Promise<Transcript | null> {
  if (!isTranscribed(file)) return null;
  const { transcript } = await storedTranscription(file, deps);
  if (transcript === null) throw new Deferred('transcribe');
  return transcript;
}
