import { describe, expect, it } from 'vitest';
import { TABLES } from '../../../../pipelines/result/render/sentences.ts';

describe('the sentence tables', () => {
  it('have one sentence for each code', () => {
    const codes = TABLES.flatMap((table) => Object.keys(table));
    expect(codes.filter((code, place) => codes.indexOf(code) !== place)).toEqual([]);
  });
});
