package main

import (
	"context"
	"slices"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listener "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	manager "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"google.golang.org/protobuf/types/known/anypb"
)

// client requests the resources that an Envoy requests, and accepts them. It stands for one Envoy, on one stream.
type client struct {
	all       *clients
	node      *core.Node // nil: it was sent with the first request
	hosts     map[string]bool // to which it has had a route
	onRoutes  func() // is called when routes arrive
	listening bool   // it has requested listeners
}

// request is for resources of a kind; no names: for all of them.
type request struct {
	kind  string
	names []string
}

// popNode returns the node the first time, and then nil: only the first request of a stream has it.
func (c *client) popNode() *core.Node {
	node := c.node
	c.node = nil
	return node
}

// runState requests the state of the world until the stream ends, in the order of Envoy: listeners when the clusters are warm, and the
// resources that a resource names before that one is accepted. Requesting all at once would take the server less CPU time. It returns the
// error that ended the stream, or of a resource that cannot be decoded; never nil.
func (c *client) runState(service discovery.AggregatedDiscoveryServiceClient) error {
	stream, err := service.StreamAggregatedResources(context.Background())
	if err != nil {
		return err
	}
	subscribed := map[string][]string{}
	answers := map[string]*discovery.DiscoveryResponse{}
	// A request accepts the last answer of its kind, whose version and nonce it has.
	send := func(kind string) error {
		return stream.Send(&discovery.DiscoveryRequest{Node: c.popNode(), TypeUrl: kind, ResourceNames: subscribed[kind],
			VersionInfo: answers[kind].GetVersionInfo(), ResponseNonce: answers[kind].GetNonce()})
	}
	if err := send(resource.ClusterType); err != nil {
		return err
	}
	for {
		answer, err := stream.Recv()
		if err != nil {
			return err
		}
		kind := answer.GetTypeUrl()
		next, err := c.applyResources(kind, answer.GetResources())
		if err != nil {
			return err
		}
		if len(next.names) > 0 && !slices.Equal(subscribed[next.kind], next.names) {
			subscribed[next.kind] = next.names
			if err := send(next.kind); err != nil {
				return err
			}
		}
		answers[kind] = answer
		if err := send(kind); err != nil {
			return err
		}
		if c.startsListening(kind, next) {
			if err := send(resource.ListenerType); err != nil {
				return err
			}
		}
	}
}

// runDelta requests only changed resources until the stream ends, in the same order, and returns the same errors.
func (c *client) runDelta(service discovery.AggregatedDiscoveryServiceClient) error {
	stream, err := service.DeltaAggregatedResources(context.Background())
	if err != nil {
		return err
	}
	subscribed := map[string][]string{}
	send := func(kind, nonce string, more []string) error {
		return stream.Send(&discovery.DeltaDiscoveryRequest{Node: c.popNode(), TypeUrl: kind, ResponseNonce: nonce,
			ResourceNamesSubscribe: more})
	}
	if err := send(resource.ClusterType, "", nil); err != nil {
		return err
	}
	for {
		answer, err := stream.Recv()
		if err != nil {
			return err
		}
		var resources []*anypb.Any
		for _, change := range answer.GetResources() {
			resources = append(resources, change.GetResource())
		}
		kind := answer.GetTypeUrl()
		next, err := c.applyResources(kind, resources)
		if err != nil {
			return err
		}
		more := slices.DeleteFunc(next.names, func(name string) bool { return slices.Contains(subscribed[next.kind], name) })
		if len(more) > 0 {
			subscribed[next.kind] = append(subscribed[next.kind], more...)
			if err := send(next.kind, "", more); err != nil {
				return err
			}
		}
		if err := send(kind, answer.GetNonce(), nil); err != nil {
			return err
		}
		if c.startsListening(kind, next) {
			if err := send(resource.ListenerType, "", nil); err != nil {
				return err
			}
		}
	}
}

// startsListening returns true once, when the clusters are warm: their endpoints have come, or there are no clusters.
func (c *client) startsListening(kind string, next request) bool {
	isWarm := kind == resource.EndpointType || kind == resource.ClusterType && len(next.names) == 0
	starts := isWarm && !c.listening
	c.listening = c.listening || isWarm
	return starts
}

// applyResources counts the routes among the resources, and returns the request that follows from them: for the endpoints of clusters, or
// the routes of listeners, sorted by name. It has no names if none follows. A resource that cannot be decoded is an error.
func (c *client) applyResources(kind string, resources []*anypb.Any) (request, error) {
	next := request{kind: resource.RouteType}
	if kind == resource.ClusterType {
		next.kind = resource.EndpointType
	}
	for _, packed := range resources {
		switch kind {
		case resource.ClusterType:
			message := &cluster.Cluster{}
			if err := packed.UnmarshalTo(message); err != nil {
				return next, err
			}
			next.names = append(next.names, message.GetName())
		case resource.ListenerType:
			routes, err := listRoutes(packed)
			if err != nil {
				return next, err
			}
			next.names = append(next.names, routes...)
		case resource.RouteType:
			if err := c.countRoutes(packed); err != nil {
				return next, err
			}
		}
	}
	slices.Sort(next.names)
	return next, nil
}

// listRoutes returns the names of the route configurations that a listener refers to; an empty name for a connection manager with its own
// routes. A listener or manager that cannot be decoded is an error.
func listRoutes(packed *anypb.Any) ([]string, error) {
	message := &listener.Listener{}
	if err := packed.UnmarshalTo(message); err != nil {
		return nil, err
	}
	var names []string
	for _, chain := range message.GetFilterChains() {
		for _, filter := range chain.GetFilters() {
			http := &manager.HttpConnectionManager{}
			if filter.GetTypedConfig().MessageIs(http) {
				if err := filter.GetTypedConfig().UnmarshalTo(http); err != nil {
					return nil, err
				}
				names = append(names, http.GetRds().GetRouteConfigName())
			}
		}
	}
	return names, nil
}

// countRoutes counts the client for every host that it has for the first time in a route configuration, and calls onRoutes while it holds
// the mutex of all clients. A configuration that cannot be decoded is an error.
func (c *client) countRoutes(packed *anypb.Any) error {
	message := &route.RouteConfiguration{}
	if err := packed.UnmarshalTo(message); err != nil {
		return err
	}
	c.all.mutex.Lock()
	defer c.all.mutex.Unlock()
	for _, host := range message.GetVirtualHosts() {
		for _, domain := range host.GetDomains() {
			if !c.hosts[domain] {
				c.hosts[domain] = true
				c.all.routed[domain]++
			}
		}
	}
	c.onRoutes()
	return nil
}
