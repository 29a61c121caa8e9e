/**
 * Disables the telemetry of ONNX Runtime, because no data may leave a hospital without a request.
 * From version 1.29 on, the library reports the operating system and the opened models to its maker
 * over the network, and stores an identifier of the machine in the home folder
 * (microsoft/onnxruntime#27379). The library reads this variable once, when it is loaded, and a
 * thread starts with a copy of the variables. Therefore this file must be loaded before the library
 * is loaded and before such a thread starts.
 */
process.env.ORT_DISABLE_TELEMETRY = '1';
