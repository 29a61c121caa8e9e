import dcmjs, { type NaturalDataset } from 'dcmjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { type EchoStudy, echoStudy } from '../../../../models/phantom/echo/study.ts';

let study: EchoStudy;
let headers: Map<string, NaturalDataset>;

beforeAll(async () => {
  study = await echoStudy({ seed: 5, of: 'mitral-regurgitation', beats: 0.05 });
  const { DicomMessage, DicomMetaDictionary } = dcmjs.data;
  headers = new Map(
    study.files.map(({ name, bytes }) => [
      name.slice(3, -4),
      DicomMetaDictionary.naturalizeDataset(
        DicomMessage.readFile(new Uint8Array(bytes).buffer).dict,
      ),
    ]),
  );
}, 60_000);

describe('a simulated echo study', () => {
  it('contains the standard views, spectra and sweeps of an adult heart', () => {
    expect([...headers.keys()]).toEqual(
      expect.arrayContaining([
        'plax',
        'psax-pm',
        'a4c',
        'a2c',
        'a3c',
        'mitral-inflow',
        'm-mode-lv',
      ]),
    );
    for (const header of headers.values()) {
      expect(header.BodyPartExamined).toBe('HEART');
      expect(header.LastMenstrualDate).toBeUndefined();
      expect(Number(header.PatientSize)).toBeGreaterThan(1.5);
    }
  });

  it('shows the leak in its name in colour, with a region for it', () => {
    const colour = headers.get('a4c-colour-mitral');
    expect(colour?.SamplesPerPixel).toBe(3);
    expect(colour?.UltrasoundColorDataPresent).toBe(1);
    const regions = colour?.SequenceOfUltrasoundRegions as NaturalDataset[];
    expect(regions.map(({ RegionDataType }) => RegionDataType)).toEqual([1, 2]);
    expect(headers.has('mitral-regurgitation')).toBe(true);
  });

  it('states the heart rate of its clips and the truth of the whole study', () => {
    const rate = Math.round(study.truth.beatsPerMinute);
    expect(Number(headers.get('a4c')?.HeartRate)).toBe(rate);
    expect(study.truth.ejectionFractionPercent).toBeCloseTo(64, 2);
  });
});
