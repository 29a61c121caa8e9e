import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EchoConcept } from '../../pipelines/concepts/echo.ts';
import { tracedMeasurements } from '../../pipelines/echo/displays/measure.ts';
import { readDisplays } from '../../pipelines/echo/displays/read.ts';
import { readStudy } from '../../pipelines/input/read-study.ts';
import type { Measurement } from '../../pipelines/result/envelope.ts';

/** Values that a machine printed beside its display, in the units of their concepts. */
interface PrintedScreen {
  file: string;
  /** View Name in a cart's wording. The files themselves have none. */
  viewName: string;
  printed: Partial<Record<EchoConcept, number>>;
}

/**
 * Real screens from one machine (Imperial College TTE47; evaluation only). The last one shows a
 * line through the aortic root. Nothing is printed on it, and no ventricular dimension may be
 * accepted.
 */
export const PRINTED_SCREENS: readonly PrintedScreen[] = [
  {
    file: 'doppler/tte47_18_doppler-av.dcm',
    viewName: 'LVOT PW',
    printed: { 'lvot-vmax': 0.888 },
  },
  {
    file: 'doppler/tte47_21_doppler-tissue-lateral.dcm',
    viewName: 'TDI lateral',
    printed: { 's-prime-lateral': 11.4, 'e-prime-lateral': 11.6 },
  },
  { file: 'doppler/tte47_40_mmode-a4ch-rv.dcm', viewName: 'TAPSE', printed: { tapse: 19.6 } },
  {
    file: 'doppler-unseen/tte47_19_doppler-mv.dcm',
    viewName: 'MV Inflow PW',
    printed: { 'mitral-e': 74.2, 'mitral-a': 90.2 },
  },
  {
    file: 'doppler-unseen/tte47_24_doppler-tv.dcm',
    viewName: 'TR CW',
    printed: { 'tr-vmax': 2.6 },
  },
  {
    file: 'doppler-unseen/tte47_41_mmode-ivc.dcm',
    viewName: 'IVC M-Mode',
    printed: { 'ivc-diameter': 16, 'ivc-collapse': 65.7 },
  },
  { file: 'doppler/tte47_42_mmode-plax-av.dcm', viewName: 'PLAX M-Mode LV', printed: {} },
];

/**
 * A quantity on one screen: the value that the machine printed, and ours. Each is null if there is
 * none.
 */
interface PrintedCase {
  file: string;
  key: EchoConcept;
  printed: number | null;
  value: number | null;
  quality: Measurement['quality'] | 'none';
}

const NEVER = new AbortController().signal;

/**
 * Returns the product's measurements on one screen: those with a printed value, and all other
 * accepted ones.
 */
export async function printedCases(
  folder: string,
  { file, viewName, printed }: PrintedScreen,
): Promise<PrintedCase[]> {
  const files = [{ name: file, path: join(folder, file) }];
  const study = await readStudy(files, { unpackTo: tmpdir(), signal: NEVER });
  const clips = study.clips.map((clip) => ({ ...clip, viewName }));
  const values = tracedMeasurements(
    await readDisplays({ ...study, clips }, NEVER),
    () => 'displays',
  );
  const keys = Object.keys(printed) as EchoConcept[];
  const besides = values.flatMap(({ concept, quality }) => {
    const key = concept.key as EchoConcept;
    return quality === 'accepted' && !keys.includes(key) ? [key] : [];
  });
  return [...keys, ...besides].map((key) => {
    const found = values.find(({ concept }) => concept.key === key);
    return {
      file,
      key,
      printed: printed[key] ?? null,
      value: found?.value ?? null,
      quality: found?.quality ?? 'none',
    };
  });
}

export function printedTable(cases: readonly PrintedCase[]): string {
  return [
    '| screen | quantity | printed | measured | off, % | quality |',
    '|---|---|---|---|---|---|',
    ...cases.map(({ file, key, printed, value, quality }) => {
      const off = printed && value ? (100 * (value / printed - 1)).toFixed(1) : '';
      const cells = [file, key, printed ?? '', value?.toFixed(2) ?? '', off, quality];
      return `| ${cells.join(' | ')} |`;
    }),
  ].join('\n');
}
