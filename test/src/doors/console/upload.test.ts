import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { viewerLink } from '../../../../src/doors/console/study-page.ts';
import { uploadOutcome } from '../../../../src/doors/console/upload-routes.ts';

describe('objects that a person uploads', () => {
  it('are counted by reason, in words, if they are refused', () => {
    const failed = { sopClassUid: '1', sopInstanceUid: '2', transient: false };
    const outcome = uploadOutcome({
      stored: [{ ...failed, within: null }],
      failed: [{ ...failed, reason: 0x0122 }],
      unreadable: [0xc000, 0xc000, 0x0110],
    });
    expect(outcome.stored).toBe(1);
    expect(outcome.refused.map(({ objects }) => objects)).toEqual([1, 2, 1]);
    expect(outcome.refused[0]?.reason).not.toMatch(/DICOM status/);
    expect(outcome.refused[2]?.reason).toBe('DICOM status 0110');
  });
});

describe("the link to the hospital's viewer", () => {
  const identity = {
    StudyInstanceUID: '1.2.3',
    AccessionNumber: 'A&B/1',
    PatientID: '',
  } as Parameters<typeof viewerLink>[1];
  const viewer = (url: string) => ({ label: 'OHIF', url });

  it("contains the study's values, percent-encoded", () => {
    const made = viewerLink(
      viewer('https://v.example/?s={StudyInstanceUID}&a={AccessionNumber}'),
      identity,
    );
    expect(made?.url).toBe('https://v.example/?s=1.2.3&a=A%26B%2F1');
  });

  it('opens Weasis with the command of the example in docs/console.md', async () => {
    const page = await readFile(new URL('../../../../docs/console.md', import.meta.url), 'utf8');
    const example = /url: (weasis:.*)/.exec(page)?.[1] ?? '';
    const made = viewerLink(viewer(example), identity)?.url ?? '';
    expect(decodeURIComponent(made.replace('weasis://', ''))).toBe(
      '$dicom:rs --url "https://pacs.example/dicom-web" -r "studyUID=1.2.3"',
    );
  });

  it.each([
    ['there is no viewer', undefined, identity],
    ['the study has no value for it', viewer('https://v/{StudyInstanceUID}/{PatientID}'), identity],
    ['there is no study', viewer('https://v/{StudyInstanceUID}'), null],
  ] as const)('is omitted if %s', (_, settings, of) => {
    expect(viewerLink(settings, of)).toBeNull();
  });
});
