import { createReadStream } from 'node:fs';
import type { OutgoingObject } from './network/requestor.ts';
import { decodeFileMeta, readFileMeta } from './part10.ts';

/**
 * A DICOM file as an object to send; its data set is streamed from the disk.
 * @throws SonogateError `object_not_understood` when it is no DICOM file.
 */
export async function outgoingFile(path: string): Promise<OutgoingObject> {
  const { meta, dataSetOffset, bytes } = await readFileMeta(path);
  return {
    sopClassUid: meta.sopClassUid,
    sopInstanceUid: meta.sopInstanceUid,
    transferSyntax: meta.transferSyntax,
    bytes: bytes - dataSetOffset,
    read: (size) => createReadStream(path, { start: dataSetOffset, highWaterMark: size }),
  };
}

/**
 * A DICOM file in memory as an object to send.
 * @throws SonogateError `object_not_understood` when it is no DICOM file.
 */
export function outgoingBuffer(file: Buffer): OutgoingObject {
  const { meta, dataSetOffset } = decodeFileMeta(file);
  const dataSet = file.subarray(dataSetOffset);
  return {
    sopClassUid: meta.sopClassUid,
    sopInstanceUid: meta.sopInstanceUid,
    transferSyntax: meta.transferSyntax,
    bytes: dataSet.length,
    *read(size) {
      for (let start = 0; start < dataSet.length; start += size) {
        yield dataSet.subarray(start, start + size);
      }
    },
  };
}
