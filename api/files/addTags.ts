import { type StoredTag, tagObject, upsertTags } from '../../contract/files/tags.js';
import { invalid } from '../http/errors.js';
import { MAX_TAG_CHARACTERS } from '../schemas/tags.js';

const sizeOf = (tags: readonly StoredTag[]): number => JSON.stringify(tagObject(tags)).length;

/**
 * Adds tags to those of a record and replaces the values of existing keys. The limit for one request also applies to
 * all tags of the record together, because every point in Qdrant stores a copy of them.
 * @throws HttpError 422 if the result is too long, unless it is shorter than before
 */
export function addTags(storedBefore: readonly StoredTag[], newTags: readonly StoredTag[]): StoredTag[] {
  const tagsAfter = upsertTags(storedBefore, newTags);
  const size = sizeOf(tagsAfter);
  if (size > MAX_TAG_CHARACTERS && size > sizeOf(storedBefore))
    throw invalid(
      ['body', 'tags'],
      `With the stored tags, there would be ${size} characters; the maximum is ${MAX_TAG_CHARACTERS}. Remove some tags first`,
      'string_too_long',
    );
  return tagsAfter;
}
