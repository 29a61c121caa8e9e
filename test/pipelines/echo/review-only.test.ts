import { describe, expect, it } from 'vitest';
import type { EchoConcept } from '../../../pipelines/concepts/echo.ts';
import { SECTIONS } from '../../../pipelines/echo/sections.ts';
import { NO_FRAME } from '../../../pipelines/result/measured.ts';
import { createMeasurement } from '../../../pipelines/result/measurement.ts';
import { NOTHING_CONCLUDED } from '../../../pipelines/result/render/report-lines.ts';
import { interpreted } from './interpret-sample.ts';

const SETTING = { accept: 'real', gaDays: null, models: new Set<string>() } as const;

/**
 * Values that are abnormal in most sections: a dilated, failing, overloaded heart with an effusion.
 */
const ABNORMAL: Readonly<Partial<Record<EchoConcept, number>>> = {
  lvef: 22,
  'lvef-biplane': 22,
  lvidd: 7,
  lvids: 6.2,
  ivsd: 1.6,
  lvpwd: 1.6,
  'la-volume-biplane': 140,
  'rv-fac': 15,
  'rv-basal': 60,
  'rv-to-lv': 1.4,
  tapse: 8,
  'gls-end-systolic': -7,
  'wall-motion-score-index': 2.4,
  'mitral-e': 120,
  'mitral-a': 40,
  'e-prime-septal': 4,
  'e-prime-lateral': 5,
  'tr-vmax': 4.2,
  'ivc-diameter': 28,
  'ivc-collapse': 20,
  'ra-area': 32,
  'av-vmax': 5.4,
  'av-mean-gradient': 62,
  'effusion-depth': 28,
};

const sectionOf = (key: EchoConcept) =>
  SECTIONS.find(({ measures }) => measures.includes(key))?.id ?? 'lv-size';

const measured = (provenance: 'model' | 'cart-sr') =>
  Object.entries(ABNORMAL).map(([key, value]) =>
    createMeasurement(`${key}-traced`, key as EchoConcept, value, 'spectral-trace', {
      section: sectionOf(key as EchoConcept),
      source: { ...NO_FRAME, provenance },
    }),
  );

describe('an echo study in which every value needs a review', () => {
  const whole = { measured: measured('model') };
  const nothing = { measured: [] };
  const base = interpreted({}, 'model', {}, nothing);
  const { result: accepted } = interpreted({}, 'model', {}, whole);

  it('would have critical findings and categories if the values were accepted', () => {
    expect(accepted.findings.some(({ severity }) => severity === 'critical')).toBe(true);
    expect(accepted.classifications.length).toBeGreaterThan(5);
  });

  const { result } = interpreted(
    {},
    'model',
    {},
    {
      ...whole,
      review: { setting: SETTING, counting: base.evidence },
    },
  );

  it('has no finding, category, score or advice', () => {
    expect(result.findings).toEqual([]);
    expect(result.classifications).toEqual([]);
    expect(result.scores).toEqual([]);
    expect(result.guidance).toEqual([]);
  });

  it('has an empty impression', () => {
    expect(result.report?.impression).toEqual([NOTHING_CONCLUDED]);
  });

  it('lists every value as a proposal without a range, including calculated ones', () => {
    const ours = result.measurements.filter(({ origin }) => origin === 'image');
    expect(ours.length).toBeGreaterThan(Object.keys(ABNORMAL).length);
    for (const one of ours.filter(({ concept }) => concept.key !== 'body-surface-area')) {
      expect([one.id, one.quality, one.standing, one.reference]).toEqual([
        one.id,
        'review',
        'proposed',
        null,
      ]);
    }
    expect(ours.map(({ concept }) => concept.key)).toEqual(
      expect.arrayContaining(['rvsp', 'e-to-e-prime']),
    );
  });

  it('states in every section with such values that they need a review', () => {
    const own = new Set(result.measurements.map(({ section }) => section));
    for (const section of result.sections.filter(({ id }) => own.has(id))) {
      if (section.id === 'lv-size' || section.status !== 'not_assessed') continue;
      expect(section.summary, section.id).toContain('need');
    }
  });
});
