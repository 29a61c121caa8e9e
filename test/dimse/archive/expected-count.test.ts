import { expect, test } from 'vitest';
import { compareWithArchive } from '../../../dimse/archive/expected-count.ts';

const here = (...uids: string[]) => new Set(uids);

test('a study is complete when an archive has the same objects and no more', () => {
  expect(compareWithArchive('pacs', ['1', '2'], here('1', '2'))).toMatchObject({
    state: 'complete',
    expected: 2,
    missing: 0,
  });
});

test('objects that only the archive has are missing', () => {
  expect(compareWithArchive('pacs', ['1', '2', '3'], here('1'))).toEqual({
    archive: 'pacs',
    state: 'missing',
    expected: 3,
    missing: 2,
    detail: 'pacs has 3 objects, of which 2 have not been received.',
  });
});

test('an archive that lacks objects we have is behind: its count is not used', () => {
  expect(compareWithArchive('pacs', ['1'], here('1', '2'))).toMatchObject({
    state: 'behind',
    missing: 0,
  });
  expect(compareWithArchive('pacs', [], here('1'))).toMatchObject({ state: 'behind', expected: 0 });
});

test('missing objects take precedence over objects that the archive lacks', () => {
  expect(compareWithArchive('pacs', ['1', '3'], here('1', '2'))).toMatchObject({
    state: 'missing',
    missing: 1,
  });
});

test('an object that is listed twice counts once', () => {
  expect(compareWithArchive('pacs', ['1', '1'], here('1'))).toMatchObject({
    state: 'complete',
    expected: 1,
  });
});
