import { expect, test } from '@jest/globals';

import { addTags } from '../../api/files/addTags.js';

const tag = (key: string, length: number) => ({ key, value: 'x'.repeat(length) });

test('refuses tags with which a record has more than 65,536 characters of tags, unless they become fewer', () => {
  const large = tag('large', 40_000);
  expect(addTags([large], [tag('small', 25_000)])).toHaveLength(2);
  const tooLong = { detail: [expect.objectContaining({ loc: ['body', 'tags'] })], status: 422 };
  expect(() => addTags([large], [tag('other', 40_000)])).toThrow(expect.objectContaining(tooLong));
  expect(addTags([large], [tag('large', 60_000)])).toEqual([tag('large', 60_000)]);
  const older = [large, tag('other', 40_000)];
  expect(addTags(older, [tag('other', 39_000)])).toEqual([large, tag('other', 39_000)]);
  expect(() => addTags(older, [tag('new', 1)])).toThrow(expect.objectContaining({ status: 422 }));
});
