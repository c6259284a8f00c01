package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
)

// clients stand for Envoys that a machine cannot hold: each has a connection and a stream of its own (client.go), and names
// itself with the node of a real Envoy.
type clients struct {
	server string
	node   *core.Node
	delta  bool
	mutex  sync.Mutex
	routed map[string]int // by host: how many have a route to it
	count  int
}

const (
	maxStarting = 64          // clients at a time that have no routes yet
	nodeTimeout = time.Minute // until a real Envoy has asked the server
	windowBytes = 1 << 20
)

// runClients runs a client for each name in a file, a line each, and answers over HTTP as a sidecar does (serveRoutes). They start one by
// one as real Envoys do: at once, they would take the server less CPU time. It returns only with an error. server: where the control plane
// has its streams; source: where it tells the node of a real Envoy.
func runClients(httpAddress, server, source, namesFile string, delta bool, every time.Duration) error {
	node, err := awaitNode(source)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(namesFile)
	if err != nil {
		return err
	}
	names := strings.Fields(string(text))
	simulated := &clients{server: server, node: node, delta: delta, routed: map[string]int{}, count: len(names)}
	places := make(chan struct{}, maxStarting)
	go func() {
		for _, name := range names {
			go simulated.run(name, places)
			time.Sleep(every)
		}
	}()
	return http.ListenAndServe(httpAddress, http.HandlerFunc(simulated.serveRoutes))
}

// awaitNode waits until a real Envoy has asked the server, for nodeTimeout at most, and returns its node, or the error of the last try.
func awaitNode(source string) (*core.Node, error) {
	deadline := time.Now().Add(nodeTimeout)
	for {
		node, err := fetchNode(source)
		if err == nil || time.Now().After(deadline) {
			return node, err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// fetchNode returns the node of the real Envoy that first asked the server; an error if none has, or the server cannot be reached.
func fetchNode(source string) (*core.Node, error) {
	response, err := http.Get("http://" + source + "/node")
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the node of a real Envoy: %s", body)
	}
	node := &core.Node{}
	return node, proto.Unmarshal(body, node)
}

// serveRoutes answers a request for a host: 200 with the nonce and the body of the request if every client has a route to it, else 404.
func (c *clients) serveRoutes(w http.ResponseWriter, r *http.Request) {
	c.mutex.Lock()
	routed := c.routed[r.Host]
	c.mutex.Unlock()
	if routed < c.count {
		http.Error(w, fmt.Sprintf("%d of %d have it", routed, c.count), http.StatusNotFound)
		return
	}
	w.Header().Set("x-nonce", r.Header.Get("x-nonce"))
	io.Copy(w, r.Body)
}

// run runs a client until its stream ends, and does not reconnect, so that a lost stream shows as missing routes. The client starts when
// places has room, and leaves its place when it has routes, or its stream has ended. Why it ended is logged.
func (c *clients) run(name string, places chan struct{}) {
	places <- struct{}{}
	leave := sync.OnceFunc(func() { <-places })
	defer leave()
	// Windows of a fixed size, as ads-config.js gives Envoy: with others the client would ping the server to estimate them.
	connection, err := grpc.NewClient(c.server, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithInitialWindowSize(windowBytes), grpc.WithInitialConnWindowSize(windowBytes),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
	if err != nil {
		log.Printf("%s: %v", name, err)
		return
	}
	defer connection.Close()
	node := proto.Clone(c.node).(*core.Node)
	node.Id = name
	started := &client{all: c, node: node, hosts: map[string]bool{}, onRoutes: leave}
	service := discovery.NewAggregatedDiscoveryServiceClient(connection)
	if c.delta {
		err = started.runDelta(service)
	} else {
		err = started.runState(service)
	}
	log.Printf("%s: %v", name, err)
}
