import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { readStudy } from '../../../../pipelines/input/read-study.ts';
import { spectraReader } from '../../../../pipelines/obstetric/doppler/read.ts';
import { interpretStudy } from '../../../../pipelines/obstetric/interpret-study.ts';
import { failTest } from '../../fail-test.ts';
import { NO_MODELS } from '../evidence-sample.ts';

/** Real Doppler and M-mode displays of adult hearts. */
const ROOT = '../shared/data/dicom';
const FILES = ['doppler', 'doppler-unseen'].flatMap((folder) =>
  existsSync(`${ROOT}/${folder}`)
    ? readdirSync(`${ROOT}/${folder}`)
        .filter((name) => name.endsWith('.dcm'))
        .map((name) => `${folder}/${name}`)
    : [],
);
if (FILES.length === 0) console.warn(`${ROOT}/doppler is absent: no echo screen is interpreted`);

const signal = new AbortController().signal;

async function interpreted(file: string, viewName: string | null) {
  const read = await readStudy([{ name: 'screen.dcm', path: `${ROOT}/${file}` }], {
    unpackTo: tmpdir(),
    signal,
  });
  const study = { ...read, clips: read.clips.map((clip) => ({ ...clip, viewName })) };
  const options = { dating: { ga_days: 210, basis: 'lmp' as const }, report: false };
  const locator = NO_MODELS;
  const spectra = await spectraReader.read({ study, options, planes: [], locator, signal });
  const { uncertainty } = NO_MODELS;
  const evidence = { study, options, planes: null, readings: [], withoutModel: [], uncertainty };
  const given = { ...evidence, views: { spectra }, priors: [], accept: 'simulated' as const };
  return { spectra, result: interpretStudy(given, [], [], new Date(0), failTest) };
}

describe.skipIf(FILES.length === 0)('an echo screen that is sent as an obstetric study', () => {
  // Even simulated evidence is accepted, so that nothing is withheld merely for lack of evidence.
  it.each(FILES)('%s gives no accepted value, category, finding or centile', async (file) => {
    const { result } = await interpreted(file, null);
    expect(result.measurements.filter(({ quality }) => quality === 'accepted')).toEqual([]);
    expect(result.measurements.filter(({ reference }) => reference !== null)).toEqual([]);
    expect([...result.findings, ...result.scores, ...result.guidance]).toEqual([]);
  });

  it('is traced, so only the name decides', async () => {
    const screens = await Promise.all(FILES.map((file) => interpreted(file, 'LVOT')));
    const traced = screens.filter(({ spectra }) =>
      spectra.some(({ waveform }) => waveform.status === 'traced'),
    );
    expect(traced.length).toBeGreaterThan(0);
    for (const { spectra, result } of traced) {
      expect(spectra.map(({ vessel }) => vessel)).toEqual(spectra.map(() => null));
      const [value] = result.measurements;
      expect(value?.note).toContain('the header does not name the vessel');
    }
  });
});
