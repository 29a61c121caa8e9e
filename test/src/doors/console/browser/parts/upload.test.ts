import { describe, expect, it } from 'vitest';
import {
  inCalls,
  outcomeText,
  storeBody,
} from '../../../../../../src/doors/console/pages/upload.ts';

const sizes = (calls: { size: number }[][]) => calls.map((call) => call.map(({ size }) => size));

describe('files that a person uploads', () => {
  it('are sent in requests of limited size, a larger file in its own request', () => {
    const files = [40, 50, 20, 200, 10].map((size) => ({ size }));
    expect(sizes(inCalls(files, 100))).toEqual([[40, 50], [20], [200], [10]]);
    expect(inCalls([], 100)).toEqual([]);
  });

  it('are the parts of one store transaction', async () => {
    const body = await storeBody([new Blob(['one']), new Blob(['two'])], 'b').text();
    expect(body).toBe(
      '--b\r\nContent-Type: application/dicom\r\n\r\none\r\n--b\r\nContent-Type: application/dicom\r\n\r\ntwo\r\n--b--\r\n',
    );
  });

  it('have one combined outcome for all requests', () => {
    const outcome = { stored: 1, refused: [{ reason: 'No image', objects: 2 }] };
    expect(outcomeText([outcome, outcome])).toBe(
      '2 image objects received. 4 files refused: No image',
    );
    expect(outcomeText([{ stored: 1, refused: [] }])).toBe('1 image object received');
  });
});
