import { describe, expect, it } from 'vitest';
import type { Clip } from '../../../pipelines/contract/study.ts';
import { assembleResult } from '../../../pipelines/result/assemble.ts';
import { writeReport } from '../../../pipelines/result/render/obstetric/report.ts';
import { unsupportedClaims } from '../../../pipelines/result/render/report-check.ts';
import { clip } from '../obstetric/evidence-sample.ts';

const AREA = { minX: 0, minY: 0, maxX: 799, maxY: 599 };

function measuredIn(...sources: ('user' | 'region')[]) {
  const clips = sources.map((source, index) =>
    clip(`${index}.png`, { regions: [{ area: AREA, scale: { x: 0.4, y: 0.4 }, source }] }),
  );
  return resultOf(clips);
}

function resultOf(clips: readonly Clip[]) {
  return assembleResult({
    ...{ endpoint: 'us/obstetric/interpret', version: '1.0.0', generatedAt: new Date(0) },
    study: { clips: [...clips], refused: [], files: clips.length, series: 1 },
    ...{ models: [], refusedFrames: [], priors: 0, sections: [], findings: [], measurements: [] },
    ...{ classifications: [], guidance: [], report: null },
  });
}

const LINE = 'Images without a stated scale were measured with the scale given in the request.';

describe('a scale given in the request', () => {
  it.each([
    [['user'], true],
    [['region', 'user'], true],
    [['region'], undefined],
    [[], undefined],
  ] as const)(
    'for images with the scales %j: %s, and the report states this',
    (sources, expected) => {
      const result = measuredIn(...sources);
      expect(result.input_summary.scale_from_request).toBe(expected);
      const report = writeReport(result);
      expect(report.limitations.includes(LINE)).toBe(expected === true);
      expect(unsupportedClaims(report, result)).toEqual([]);
    },
  );

  it('for images of different size leads to a warning', () => {
    const sized = (width: number, mm: number) =>
      clip(`${width}.png`, {
        width,
        regions: [{ area: AREA, scale: { x: mm, y: mm }, source: 'user' }],
      });
    const one = resultOf([sized(800, 0.4), sized(640, 0.4)]);
    expect(one.input_summary.one_scale_for_sizes).toHaveLength(2);
    expect(writeReport(one).limitations.join()).toContain('check that it applies to each');
    const own = resultOf([sized(800, 0.4), sized(640, 0.5)]);
    expect(own.input_summary.one_scale_for_sizes).toBeUndefined();
  });
});
