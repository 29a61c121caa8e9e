import dcmjs from 'dcmjs';
import type { OutgoingObject } from '../../../dimse/network/requestor.ts';
import { outgoingBuffer } from '../../../dimse/outgoing-object.ts';
import type { Cart } from './carts.ts';

/** Where the private block of the cart begins; its elements are those of block 10 (PS3.5 7.8.1). */
const BLOCK = '10';

/**
 * A phantom image as the cart would have written it: its SOP class, its transfer syntax, its maker's
 * name and private elements. The pixels stay as they are.
 * @param file a still or cine of the phantom, encoded as the cart encodes (`cart.compression`).
 */
export function asCartObject(file: Buffer, cart: Cart): OutgoingObject {
  const bytes = file.buffer.slice(file.byteOffset, file.byteOffset + file.length) as ArrayBuffer;
  const image = dcmjs.data.DicomMessage.readFile(bytes);
  const cine = Number(image.dict['00280008']?.Value?.[0] ?? 1) > 1;
  const sopClass = { vr: 'UI', Value: [cine ? cart.classes.cine : cart.classes.still] };
  const { creator, group } = cart.privateData;
  Object.assign(image.dict, {
    '00080016': sopClass,
    '00080070': { vr: 'LO', Value: [`Simulated: ${creator}`] },
    [`${group}00${BLOCK}`]: { vr: 'LO', Value: [creator] },
    [`${group}${BLOCK}01`]: { vr: 'LO', Value: ['private text'] },
    [`${group}${BLOCK}02`]: { vr: 'OB', Value: [new Uint8Array([0, 255, 1, 254]).buffer] },
  });
  const written = new dcmjs.data.DicomDict({
    ...image.meta,
    '00020002': sopClass,
    '00020010': { vr: 'UI', Value: [cart.transferSyntaxes[0]] },
  });
  written.dict = image.dict;
  return outgoingBuffer(Buffer.from(written.write({ fragmentMultiframe: false })));
}
