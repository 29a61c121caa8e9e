const SOS = 0xffda;

/**
 * Whether a JPEG-LS stream holds a scan for each component (ITU-T T.87 C.2.3): then its decoder gives
 * the samples plane by plane, whatever the DICOM header says.
 */
export function isScannedByComponent(encoded: Buffer): boolean {
  for (let at = 2; at + 5 <= encoded.length; at += 2 + encoded.readUInt16BE(at + 2)) {
    if (encoded.readUInt16BE(at) === SOS) return encoded[at + 4] === 1;
  }
  return false;
}
