import { describe, expect, it } from 'vitest';
import { rightHeartPressures } from '../../../../pipelines/echo/pulmonary-hypertension/measure.ts';
import { valuesOf } from '../../../../pipelines/echo/shared/values.ts';
import { NO_FRAME } from '../../../../pipelines/result/measured.ts';
import { createMeasurement } from '../../../../pipelines/result/measurement.ts';

const source = { ...NO_FRAME, provenance: 'image-analysis' } as const;
const read = (key: 'ivc-diameter' | 'ivc-collapse', value: number, uncertainty: number) =>
  createMeasurement(key, key, value, 'm-mode-trace', { section: 'test', source, uncertainty });

describe('the interval of the RA pressure, estimated by a table of diameter and collapse', () => {
  const atrialOf = (diameter: number) => {
    const values = valuesOf([read('ivc-diameter', diameter, 2), read('ivc-collapse', 70, 8)]);
    const { values: all } = rightHeartPressures(values, 'test');
    return all.measurement('ra-pressure');
  };
  it('is unknown, and not zero, within one class of the table', () => {
    expect(atrialOf(15)).toMatchObject({ value: 3, uncertainty: null });
  });
  it('contains both classes if the interval of the diameter does', () => {
    expect(atrialOf(20)).toMatchObject({ value: 3, uncertainty: 2.5 });
  });
});
