import { expect, it } from 'vitest';
import { readDicomHeader } from '../../../pipelines/input/dicom/header.ts';
import { readStudy } from '../../../pipelines/input/read-study.ts';
import { withByteSource } from '../../../pipelines/input/study-file.ts';
import { region, ultrasound } from './dicom-sample.ts';
import { onDisk } from './on-disk.ts';

it('keeps no name, identifier or date of the header', async () => {
  const files = await onDisk({
    image: ultrasound({
      regions: [region()],
      extra: [['00321060', 'LO', 'Beispiel, born 19940312']],
    }),
  });
  const header = await withByteSource(files[0]?.path ?? '', readDicomHeader);
  const everything = JSON.stringify([
    [...header.values],
    header.regions.map((entry) => [...entry]),
    await readStudy(files),
  ]);
  expect(everything).toContain('1.2.3.4');
  expect(everything).not.toMatch(/Beispiel|4711|1994/);
});
