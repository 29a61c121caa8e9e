import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import dcmjs, { type NaturalDataset } from 'dcmjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PhantomStudy, simulateObstetricStudy } from '../../../models/phantom/study.ts';
import { type StudyContents, shotsAt } from '../../../models/phantom/study-shots.ts';

const request = { seed: 9, gaDays: 199, studyDate: '20260310' };
const folder = mkdtempSync(join(tmpdir(), 'phantom-study-'));
let study: PhantomStudy;
let headers: NaturalDataset[];

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

function read(bytes: Buffer): NaturalDataset {
  const { DicomMessage, DicomMetaDictionary } = dcmjs.data;
  const copy = new Uint8Array(bytes).buffer;
  return DicomMetaDictionary.naturalizeDataset(DicomMessage.readFile(copy).dict);
}

function has(program: string): boolean {
  return spawnSync('which', [program]).status === 0;
}

beforeAll(async () => {
  study = await simulateObstetricStudy(request);
  headers = study.files.map(({ bytes }) => read(bytes));
  for (const { name, bytes } of study.files) writeFileSync(join(folder, name), bytes);
});

afterAll(() => rmSync(folder, { recursive: true }));

describe('a simulated obstetric study', () => {
  it('contains each biometry plane three times as a still, and a cine', () => {
    const stills = study.files.filter(({ truth }) => truth.length === 1);
    for (const plane of ['transthalamic', 'abdominal', 'femur']) {
      const count = stills.filter(({ truth }) => truth[0]?.plane === plane).length;
      expect(count, plane).toBe(3);
    }
    const cine = headers.filter(({ NumberOfFrames }) => Number(NumberOfFrames) > 1);
    expect(cine).toHaveLength(1);
    expect(study.files.find(({ truth }) => truth.length > 1)?.truth).toHaveLength(
      Number(cine[0]?.NumberOfFrames),
    );
  });

  it('states the true scale in its region, cm per pixel', () => {
    for (const [index, header] of headers.entries()) {
      const [region] = header.SequenceOfUltrasoundRegions as [NaturalDataset];
      const mmPerPixel = study.files[index]?.truth[0]?.mmPerPixel ?? 0;
      expect(Number(region.PhysicalDeltaX) * 10).toBeCloseTo(mmPerPixel, 12);
      expect(Number(region.PhysicalDeltaY) * 10).toBeCloseTo(mmPerPixel, 12);
      expect(region.PhysicalUnitsXDirection).toBe(3);
      expect(region.RegionSpatialFormat).toBe(1);
      expect(region.RegionDataType).toBe(1);
      expect(Number(region.RegionLocationMaxX1)).toBeLessThan(Number(header.Columns));
      expect(Number(region.RegionLocationMaxY1)).toBeLessThan(Number(header.Rows));
    }
  });

  it('has each label inside the calibrated region', () => {
    for (const [index, header] of headers.entries()) {
      const [region] = header.SequenceOfUltrasoundRegions as [NaturalDataset];
      for (const truth of study.files[index]?.truth ?? []) {
        const points = [
          ...(truth.femur?.ends ?? []),
          ...(truth.head ? [...truth.head.bpdEnds, ...truth.head.ofdEnds] : []),
          ...(truth.abdomen ? [...truth.abdomen.tadEnds, ...truth.abdomen.apadEnds] : []),
        ];
        for (const { x, y } of points) {
          expect(x).toBeGreaterThan(Number(region.RegionLocationMinX0));
          expect(x).toBeLessThan(Number(region.RegionLocationMaxX1));
          expect(y).toBeGreaterThan(Number(region.RegionLocationMinY0));
          expect(y).toBeLessThan(Number(region.RegionLocationMaxY1));
        }
      }
    }
  });

  it('is one study of one fictional woman, each object with its own UID', () => {
    expect(new Set(headers.map((h) => h.StudyInstanceUID))).toEqual(
      new Set([study.truth.studyInstanceUid]),
    );
    expect(new Set(headers.map((h) => h.SOPInstanceUID)).size).toBe(headers.length);
    for (const header of headers) {
      expect(header.SOPInstanceUID).toMatch(/^2\.25\.[1-9]\d{0,38}$/);
      expect(String(header.PatientName)).toContain('PHANTOM');
      expect(header.PatientSex).toBe('F');
      expect(header.PatientAge).toMatch(/^0\d\dY$/);
      expect(Number(header.PatientSize)).toBeGreaterThan(1.4);
      expect(Number(header.PatientWeight)).toBeGreaterThan(40);
    }
  });

  it('dates the pregnancy by the last menstrual period, 199 days before the study', () => {
    const day = (text: unknown) => {
      const [, y, m, d] = /^(\d{4})(\d\d)(\d\d)$/.exec(String(text)) ?? [];
      return Date.UTC(Number(y), Number(m) - 1, Number(d)) / 86_400_000;
    };
    for (const header of headers) {
      expect(day(header.StudyDate) - day(header.LastMenstrualDate)).toBe(request.gaDays);
    }
  });

  it('is available in native form and as JPEG baseline, in grey and in colour', () => {
    const kinds = new Set(
      headers.map((h) => `${h.LossyImageCompression} ${h.PhotometricInterpretation}`),
    );
    expect(kinds).toEqual(
      new Set(['00 MONOCHROME2', '01 MONOCHROME2', '01 YBR_FULL_422', '00 RGB']),
    );
  });

  it('is the same for the same request, and different for another seed', async () => {
    const digest = ({ files }: PhantomStudy) => files.map(({ bytes }) => sha256(bytes));
    expect(digest(await simulateObstetricStudy(request))).toEqual(digest(study));
  });

  it('has the views for its age from 6+0 to 42+0 weeks, for labor and for twins', () => {
    const views = (gaDays: number, contents: StudyContents) => [
      ...new Set(shotsAt(gaDays, contents).map(({ of }) => (typeof of === 'string' ? of : of.id))),
    ];
    expect(views(42, 'complete')).toEqual(['early-pregnancy']);
    expect(views(76, 'biometry')).toEqual(['early-pregnancy']);
    expect(views(77, 'biometry')).toEqual(['crl-sagittal', 'midsagittal', 'm-mode']);
    expect(views(97, 'stills')).toContain('midsagittal');
    expect(views(98, 'biometry')).toContain('transthalamic');
    expect(views(294, 'complete')).toEqual(expect.arrayContaining(['femur', 'presentation-sweep']));
    expect(views(259, 'labor')).toEqual(['transperineal', 'presentation-sweep']);
    expect(views(160, 'twins')).toEqual(['presentation-sweep']);
    expect(() => shotsAt(258, 'labor')).toThrow(RangeError);
    expect(() => shotsAt(98, 'twins')).toThrow(RangeError);
  });

  it('refuses an age before 6+0 or after 42+0 weeks and an invalid date', async () => {
    await expect(simulateObstetricStudy({ seed: 1, gaDays: 41 })).rejects.toThrow(RangeError);
    await expect(simulateObstetricStudy({ seed: 1, gaDays: 295 })).rejects.toThrow(RangeError);
    await expect(
      simulateObstetricStudy({ seed: 1, gaDays: 200, studyDate: 'today' }),
    ).rejects.toThrow(/not a date/);
  });
});

describe('its files, read by other programs', () => {
  it.skipIf(!has('dciodvfy'))('are valid ultrasound objects according to dciodvfy', () => {
    for (const { name } of study.files) {
      const { stderr } = spawnSync('dciodvfy', ['-new', join(folder, name)], { encoding: 'utf8' });
      const findings = stderr.split('\n').filter((line) => /^(Error|Warning)/.test(line));
      expect(findings, name).toEqual([]);
    }
  });

  it.skipIf(!has('dcmdjpeg'))('are decompressed by DCMTK to the declared size', () => {
    for (const [index, { name }] of study.files.entries()) {
      if (headers[index]?.LossyImageCompression !== '01') continue;
      const out = join(folder, `${name}.native`);
      execFileSync('dcmdjpeg', [join(folder, name), out]);
      const header = read(readFileSync(out));
      const [pixels] = header.PixelData as [ArrayBuffer];
      const frames = Number(header.NumberOfFrames ?? 1);
      const samples = Number(header.SamplesPerPixel);
      expect(pixels.byteLength).toBe(
        Number(header.Rows) * Number(header.Columns) * samples * frames,
      );
    }
  });
});
