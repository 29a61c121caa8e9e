import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import {
  readSpectra,
  type SpectrumReading,
  spectralPeaks,
} from '../../../pipelines/echo/spectra.ts';
import { readStudy } from '../../../pipelines/input/read-study.ts';

const FOLDER = '../shared/data/dicom/doppler';
const present = existsSync(FOLDER);
if (!present) console.warn(`${FOLDER} is absent: no real spectrum is traced`);

const READING: SpectrumReading = {
  file: 'a.dcm',
  sopInstanceUid: '2.25.1',
  frame: 0,
  kind: 'cw',
  region: 'SCT:34202007',
  peak: 420,
  side: 'below',
  beats: 3,
  confidence: 0.5,
  refusal: null,
};

const peaks = (given: Partial<SpectrumReading>) =>
  spectralPeaks([{ ...READING, ...given }], () => 'valves').map(({ concept, value, quality }) => [
    concept.key,
    value,
    quality,
  ]);

describe('peaks of spectral displays', () => {
  it.each([
    ['the aortic valve by CW', {}, [['av-vmax', 4.2, 'accepted']]],
    [
      'the outflow tract by PW',
      { region: 'SCT:13418002', kind: 'pw', peak: 90 },
      [['lvot-vmax', 0.9, 'accepted']],
    ],
    [
      'the tricuspid valve by CW',
      { region: 'SCT:46030003', peak: 300 },
      [['tr-vmax', 3, 'accepted']],
    ],
    ['the aortic valve by PW, which may be the outflow tract', { kind: 'pw' }, []],
    ['no structure', { region: null }, []],
    ['a display that was not traced', { peak: null }, []],
    ['two beats', { beats: 2 }, [['av-vmax', 4.2, 'low']]],
    ['a faint trace', { confidence: 0.49 }, [['av-vmax', 4.2, 'low']]],
    ['a velocity that no heart has', { peak: 710 }, [['av-vmax', 7.1, 'inadequate']]],
  ] as const)('of %s', (_, given, expected) => expect(peaks(given)).toEqual(expected));

  it.skipIf(!present)(
    'of a real outflow tract is within 5 % of the 88.8 cm/s that the machine printed',
    async () => {
      const name = 'tte47_18_doppler-av.dcm';
      const signal = new AbortController().signal;
      const study = await readStudy([{ name, path: `${FOLDER}/${name}` }], {
        unpackTo: tmpdir(),
        signal,
      });
      const [reading] = await readSpectra(study, signal);
      expect(reading?.side).toBe('below');
      expect(Math.abs((reading?.peak ?? 0) - 88.8) / 88.8).toBeLessThan(0.05);
    },
  );
});
