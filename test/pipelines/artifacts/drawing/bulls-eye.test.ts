import { describe, expect, it } from 'vitest';
import { bullsEye } from '../../../../pipelines/artifacts/drawing/bulls-eye.ts';
import { textWidth } from '../../../../pipelines/artifacts/drawing/draw.ts';
import type { Label, Mark } from '../../../../pipelines/artifacts/drawing/drawing.ts';
import type { Section } from '../../../../pipelines/result/envelope.ts';

const strain = (segments: unknown): Section => ({
  id: 'lv-strain',
  title: 'Left ventricular strain',
  status: 'partial',
  reason: null,
  summary: '',
  data: { segments },
  artifacts: [],
});

const labels = (marks: readonly Mark[]) =>
  marks.filter((mark): mark is Label => mark.kind === 'label');

/**
 * Returns the position of a segment's number relative to the centre of the picture, with y upwards.
 */
function placeOf(segment: number) {
  const drawing = bullsEye({ sections: [strain([{ segment, strain: -12.3 }])] });
  const label = labels(drawing?.marks ?? []).find(({ text }) => text === '−12.3');
  return { x: (label?.at.x ?? Number.NaN) - 300, y: 283 - (label?.at.y ?? Number.NaN) };
}

describe("the bull's-eye (echo 8.3)", () => {
  it('shows all 17 segments, with a dash for those without a value', () => {
    const drawing = bullsEye({ sections: [strain([{ segment: 3, strain: -20.14 }])] });
    const texts = labels(drawing?.marks ?? []).map(({ text }) => text);
    expect(texts.filter((text) => text === '–')).toHaveLength(16);
    expect(texts).toContain('−20.1');
  });
  it.each([
    [1, 'anterior', (x: number, y: number) => y > 0 && Math.abs(x) < 1],
    [4, 'inferior', (x: number, y: number) => y < 0 && Math.abs(x) < 1],
    [3, 'inferoseptal', (x: number, y: number) => x < 0 && y < 0],
    [6, 'anterolateral', (x: number, y: number) => x > 0 && y > 0],
    [14, 'apical septal', (x: number, y: number) => x < 0 && Math.abs(y) < 1],
    [16, 'apical lateral', (x: number, y: number) => x > 0 && Math.abs(y) < 1],
    [17, 'the apex', (x: number, y: number) => Math.abs(x) < 1 && Math.abs(y) < 1],
  ])('shows segment %d (%s) on its side', (segment, _, there) => {
    const { x, y } = placeOf(segment);
    expect(there(x, y)).toBe(true);
  });
  it('shows basal segments outside mid and apical ones', () => {
    const radius = (segment: number) => Math.hypot(placeOf(segment).x, placeOf(segment).y);
    expect(radius(1)).toBeGreaterThan(radius(7));
    expect(radius(7)).toBeGreaterThan(radius(13));
  });
  it('has a title as wide as the picture at most', () => {
    const drawing = bullsEye({ sections: [strain([{ segment: 1, strain: -20 }])] });
    for (const { text, size, bold } of labels(drawing?.marks ?? [])) {
      const width = textWidth(text, size, bold ? 'bold' : 'regular');
      expect(width, text).toBeLessThan((drawing?.width ?? 0) - 20);
    }
  });
  it('has no text on top of another', () => {
    const all = Array.from({ length: 17 }, (_, index) => ({ segment: index + 1, strain: -20.6 }));
    const boxes = labels(bullsEye({ sections: [strain(all)] })?.marks ?? []).map((label) => {
      const width = textWidth(label.text, label.size, label.bold ? 'bold' : 'regular');
      const left =
        label.at.x - { start: 0, middle: width / 2, end: width }[label.anchor ?? 'start'];
      const { y } = label.at;
      return { text: label.text, left, right: left + width, top: y - 0.76 * label.size, bottom: y };
    });
    for (const [index, one] of boxes.entries()) {
      const over = boxes.filter(
        (other, at) =>
          at !== index &&
          one.left < other.right &&
          other.left < one.right &&
          one.top < other.bottom &&
          other.top < one.bottom,
      );
      expect(
        over.map(({ text }) => text),
        one.text,
      ).toEqual([]);
    }
  });
  it('leaves a margin between each number and the lines of its segment', () => {
    const all = Array.from({ length: 17 }, (_, index) => ({ segment: index + 1, strain: -20.6 }));
    const { marks } = bullsEye({ sections: [strain(all)] }) ?? { marks: [] };
    const lines = marks.flatMap((mark) => (mark.kind === 'path' ? mark.points : []));
    const numbers = labels(marks).filter(({ text }) => text === '−20.6');
    expect(numbers).toHaveLength(17);
    for (const { text, size, at } of numbers) {
      const half = textWidth(text, size) / 2;
      const margin = 2;
      const touching = lines.filter(
        ({ x, y }) =>
          Math.abs(x - at.x) < half + margin &&
          y < at.y + margin &&
          y > at.y - 0.73 * size - margin,
      );
      expect(touching).toEqual([]);
    }
  });
  it.each([
    ['no strain section', []],
    ['no segments', [strain([])]],
    ['other data', [strain('none')]],
  ])('is not drawn with %s', (_, sections) => expect(bullsEye({ sections })).toBeNull());
});
