import { describe, expect, it, vi } from 'vitest';
import { SECTIONS as ECHO_SECTIONS } from '../../../pipelines/echo/sections.ts';
import { SECTIONS as OBSTETRIC_SECTIONS } from '../../../pipelines/obstetric/sections.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { logFailure } from '../../../pipelines/run/sections.ts';
import { interpreted } from '../echo/interpret-sample.ts';
import { interpretReadings, MEDIAN_28_WEEKS } from '../obstetric/evidence-sample.ts';

const ENDPOINTS = {
  obstetric: {
    sections: OBSTETRIC_SECTIONS,
    interpret: () =>
      interpretReadings({
        readings: MEDIAN_28_WEEKS(),
        options: { report: true, dating: { ga_days: 196 } },
        onFailure: logFailure,
      }),
  },
  echo: {
    sections: ECHO_SECTIONS,
    interpret: () =>
      interpreted({ ivsd: 1, lvidd: 5, lvpwd: 1, lvef: 60 }, 'cart-sr', {}, {}, logFailure).result,
  },
};

/** Returns the result of a run in which one section throws, and what was logged. */
function withBroken(
  endpoint: keyof typeof ENDPOINTS,
  id: string,
): { result: Result; told: unknown } {
  const { sections, interpret } = ENDPOINTS[endpoint];
  const section = sections.find((one) => one.id === id);
  if (!section) throw new Error(`no section ${id}`);
  const run = vi.spyOn(section, 'run').mockImplementation(() => {
    throw new Error('broken');
  });
  const log = vi.spyOn(console, 'error').mockReturnValue();
  try {
    return { result: interpret(), told: log.mock.calls };
  } finally {
    run.mockRestore();
    log.mockRestore();
  }
}

const CASES = Object.entries(ENDPOINTS).flatMap(([endpoint, { sections }]) =>
  sections.map(({ id }) => [endpoint as keyof typeof ENDPOINTS, id] as const),
);

describe('a section that throws', () => {
  it.each(CASES)(
    'in %s: %s is marked as failed and logged, and the others are reported',
    (endpoint, id) => {
      const whole = ENDPOINTS[endpoint].interpret();
      const { result, told } = withBroken(endpoint, id);
      expect(result.sections.map((one) => one.id)).toEqual(whole.sections.map((one) => one.id));
      const broken = result.sections.find((one) => one.id === id);
      expect(broken).toMatchObject({
        status: 'failed',
        reason: { code: 'section_failed' },
        summary: 'This section could not be interpreted because of an internal error.',
      });
      expect(result.findings.filter(({ section }) => section === id)).toEqual([]);
      expect(result.classifications.filter(({ section }) => section === id)).toEqual([]);
      expect(told).toEqual([
        [`section ${id} failed`, expect.objectContaining({ message: 'broken' })],
      ]);
    },
  );

  it.each([
    ['obstetric', 'biometry'],
    ['obstetric', 'cervix'],
    ['echo', 'lvef'],
    ['echo', 'pericardial-effusion'],
  ] as const)('in %s: %s is among the limitations, and appears nowhere else', (endpoint, id) => {
    const { result } = withBroken(endpoint, id);
    const title = result.sections.find((one) => one.id === id)?.title ?? '';
    const { findings = [], impression = [], limitations = [] } = result.report ?? {};
    expect(limitations).toContainEqual(
      `${title}: This section could not be interpreted because of an internal error.`,
    );
    expect([...findings, ...impression].filter((line) => line.startsWith(`${title}:`))).toEqual([]);
  });

  it('in obstetric: growth, which contains the age, is not treated as a study without an age', () => {
    const { report } = withBroken('obstetric', 'growth').result;
    expect(report?.findings.join(' ')).not.toContain('Gestational age was not given');
  });
});
