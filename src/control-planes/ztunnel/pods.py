"""Hands the network namespaces of pods to ztunnel, as the CNI agent of Istio's ambient mode does.

Speaks ZDS (proto/zds.proto of istio/ztunnel) over a Unix socket of packets: receives a hello, then sends a message for each pod, with its
namespace as a file descriptor, and receives an acknowledgement. Written in Python, as Node.js cannot pass file descriptors.

Usage: pods.py SOCKET ADDRESS:PORT 'NAME NAMESPACE SERVICE-ACCOUNT'...
POD_NETWORKS has the files of the namespaces in the same order. It listens at the address once ztunnel has every pod.
"""

import os
import socket
import sys

MOST_MESSAGE_BYTES = 1024
# Numbers of fields of zds.proto: of a WorkloadRequest, of a WorkloadResponse, and of its Ack.
ADD, SNAPSHOT_SENT = 1, 3
ACK, ERROR = 1, 1


def encode_varint(number):
    """Returns a number from 0 as protobuf has it: 7 bits a byte, the lowest first."""
    encoded = b""
    while number > 127:
        encoded += bytes([number & 127 | 128])
        number >>= 7
    return encoded + bytes([number])


def encode_field(number, content):
    """Returns a field of bytes, which a text or a message also is (wire type 2)."""
    return encode_varint(number << 3 | 2) + encode_varint(len(content)) + content


def read_varint(message, at):
    """Returns the number at a position, and the position behind it. Raises IndexError if the message ends within it."""
    number = shift = 0
    while True:
        byte = message[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at


def read_field(message, number):
    """Returns the content of a field; empty if it is missing, which is its default in protobuf. All fields must be of bytes.

    Raises IndexError if the message ends within the key or the length of a field.
    """
    at = 0
    while at < len(message):
        key, at = read_varint(message, at)
        length, at = read_varint(message, at)
        if key == (number << 3 | 2):
            return message[at : at + length]
        at += length
    return b""


def encode_pod(name, namespace, service_account):
    """Returns the request that adds a pod, whose uid is its name."""
    info = b"".join(encode_field(i + 1, text.encode()) for i, text in enumerate([name, namespace, service_account]))
    return encode_field(ADD, encode_field(1, name.encode()) + encode_field(2, info))


def await_acknowledgement(connection, subject):
    """Waits for the answer about a subject, and returns unless it has an error.

    Exits with a message that names the subject if ztunnel refuses it, or closes the connection. Raises OSError if the connection breaks,
    and IndexError if the answer cannot be read.
    """
    message = connection.recv(MOST_MESSAGE_BYTES)
    if not message:
        sys.exit(f"ztunnel closed the connection when it was told of {subject}")
    error = read_field(read_field(message, ACK), ERROR)
    if error:
        sys.exit(f"ztunnel refused {subject}: {error.decode()}")


def main(path, endpoint, *pods):
    """Hands over the pods, and holds the connection as long as the proxy does. Never returns.

    Exits with a message when ztunnel closes the connection or refuses a pod, or if POD_NETWORKS has another number of namespaces. Other
    errors end it with a traceback, such as OSError for a socket that exists or a namespace that does not, and KeyError if POD_NETWORKS
    is not set.
    """
    networks = os.environ["POD_NETWORKS"].split(":")
    if len(networks) != len(pods):
        sys.exit(f"{len(pods)} pods, and POD_NETWORKS has {len(networks)} namespaces")
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.bind(path)
    server.listen(1)
    connection, _ = server.accept()
    connection.recv(MOST_MESSAGE_BYTES)
    for pod, network in zip(pods, networks):
        descriptor = os.open(network, os.O_RDONLY)
        socket.send_fds(connection, [encode_pod(*pod.split(" "))], [descriptor])
        os.close(descriptor)
        await_acknowledgement(connection, pod)
    connection.send(encode_field(SNAPSHOT_SENT, b""))
    await_acknowledgement(connection, "the end of the list of pods")
    address, port = endpoint.rsplit(":", 1)
    ready = socket.create_server((address, int(port)))
    connection.recv(MOST_MESSAGE_BYTES)
    ready.close()
    sys.exit("ztunnel closed the connection")


if __name__ == "__main__":
    main(*sys.argv[1:])
